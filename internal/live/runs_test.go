package live

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/result"
)

// TestRowsOf lists the runs of an experiment in the order of time, the newest first, and those of a
// bench in theirs.
func TestRowsOf(t *testing.T) {
	of := func(opm float64) result.Headline {
		return result.NewHeadline(&result.Figure{Unit: result.OPM, Value: opm})
	}
	hdd := result.Bench{Runs: []result.BenchRun{
		{Dir: "practice-1", Number: 2, Practice: true, Status: result.Done, Headline: of(990)},
		{Dir: "run-1", Number: 3, Block: 1, Status: result.Done, Counts: true, Headline: of(1100)},
	}}
	ssd := result.Bench{Runs: []result.BenchRun{
		{Dir: "practice-1", Number: 1, Practice: true, Status: result.Failed},
		{Dir: "run-1", Number: 4, Block: 1, Status: result.Running},
	}}
	assert.Equal(t, []RunRow{
		{"block 1, ssd, run-1", "running"},
		{"block 1, hdd, run-1", "1,100 OPM"},
		{"hdd, practice-1", "990 OPM, practice"},
		{"ssd, practice-1", "no result, practice"},
	}, RowsOf(map[string]result.Bench{"hdd": hdd, "ssd": ssd}))

	alone := map[string]result.Bench{"": {Runs: []result.BenchRun{
		{Dir: "run-1", Status: result.Done, Headline: of(1100)},
		{Dir: "run-2", Status: result.Running},
	}}}
	assert.Equal(t, []RunRow{{"run-2", "running"}, {"run-1", "1,100 OPM, does not count"}},
		RowsOf(alone))
}

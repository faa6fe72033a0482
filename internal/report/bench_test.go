package report

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/compare"
	"ds2/internal/conclude"
	"ds2/internal/diagnose"
	"ds2/internal/result"
	"ds2/internal/texttest"
)

// orders are DVD Store 2's words.
var orders = result.Words{
	Cycle:      "order",
	Cycles:     "orders",
	Rate:       result.OPM,
	Undone:     "rollbacks",
	Unit:       result.OPM,
	Own:        "order as in DS2",
	Cumulative: ", which DS2 calls opm",
	Added:      []result.CountWords{{Count: "new_customers", Words: "new customers"}},
	InDoubt: []result.CountWords{
		{Count: "in_doubt_purchases", Words: "purchases"},
		{Count: "in_doubt_customers", Words: "new customers"},
	},
}

// opmOfRun is the headline of a run with an OPM and half the width of its interval.
func opmOfRun(opm, half float64) result.Headline {
	return result.NewHeadline(&result.Figure{Unit: result.OPM, Value: opm, CI95: &half})
}

// benchOf is a bench whose runs have these OPM, and reads in proportion; what it comes to is set as
// compare.Runs does.
func benchOf(name, bottleneck string, opm ...float64) compare.Configuration {
	c := compare.Configuration{Name: name, Bench: result.Bench{
		Head: result.Head{Kind: result.KindBench}, Status: result.Done,
		Start: time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC),
		Spec: result.Spec{
			RunID:      name,
			KitVersion: "test",
			Words:      orders,
			Engine:     "postgres",
			Size:       "W",
			Threads:    32,
			Targets:    []string{"host/ds2"},
			Runs:       len(opm),
		},
	}}
	slow := result.Verdict{
		Limit: "order p95 < 500ms", Unit: result.UnitSeconds, Bound: .5,
		Measured: new(0.45), OK: true,
	}
	for i, v := range opm {
		c.Runs = append(c.Runs, result.BenchRun{
			Dir:        fmt.Sprintf("run-%d", i+1),
			Status:     result.Done,
			Counts:     true,
			Headline:   opmOfRun(v, v/100),
			P95:        new(1e6 / v),
			Bottleneck: bottleneck,
			Limits:     result.Verdicts{slow},
			Costs: &result.Costs{
				Reads: new(3.2), Writes: new(4.5 + float64(i)/10), LogBytes: new(5200.),
				ServerCPU: new(.0011), Joules: new(.46),
			},
			Conditions: []result.Condition{
				{Name: result.ReadsOfDevices, Value: v / 20, Unit: "a second"},
				{Name: result.WritesOfDevices, Value: 4000, Unit: "a second"},
				{Name: result.LimitOfReads, Value: 3400, Unit: "a second"},
				{Name: result.LimitOfLogWrites, Value: 5200, Unit: "a second"},
				{Name: "checkpoints", Value: float64(2 + i%2)},
			},
		})
	}
	c.Headline, c.Limits, c.Median = c.Runs[1].Headline, c.Runs[1].Limits, "run-2"
	mean := 0.0
	half := 700.0
	for _, v := range opm {
		mean += v / float64(len(opm))
	}
	c.RunsMean = &mean
	c.RunsCI95 = &half
	c.RunsSpread = new(3.1)
	return c
}

// TestBenchText pins what a bench says on a terminal: it has all that the page has.
func TestBenchText(t *testing.T) {
	c := benchOf("ssd", diagnose.Storage, 63412.3, 63812.7, 64101.9, 64250.2, 63020.5)
	c.Runs[3].Findings = []result.Finding{
		result.NewFinding(
			result.Unsteady,
			"not steady: fifths of the window differ by 22.0 %, more than 20 %",
		),
	}
	c.Dir = t.TempDir()
	require.NoError(t, os.Rename(record(t, eventful).Dir, filepath.Join(c.Dir, "run-2")))
	c.Runs = append(c.Runs, result.BenchRun{
		Dir: "run-6", Status: result.Failed,
		Findings: []result.Finding{result.NewFinding(result.RunFailed, "the server is gone")},
	})
	text := told(t, Bench(c))
	golden(t, "bench.txt", text)
	written(t, Bench(c))
	texttest.Contains(t, text, benchView(c).All()...)
}

// TestCompareText pins the comparison of an array that storage held back with one that the CPUs
// did: warnings of runs are counted (E4), and "at least" is said of a bound (E5).
func TestCompareText(t *testing.T) {
	disks := benchOf("disks", diagnose.Storage, 14402.1, 14380.5, 14420.9)
	ssd := benchOf("ssd", diagnose.CPU, 63412.3, 63812.7, 64101.9)
	disks.Runs[0].Counts = false
	disks.Runs[0].Findings = []result.Finding{
		result.NewFinding(
			result.Unsteady,
			"not steady: fifths of the window differ by 25.0 %, more than 20 %",
		),
	}
	disks.DropUnsteady = true
	disks.Runs = append(disks.Runs, disks.Runs[2])
	disks.Runs[3].Dir = "run-4"
	disks.Runs[3].Headline = opmOfRun(14399, 143.99)
	disks.Spec.Runs = 4
	disks.Status = result.Interrupted
	others := result.NewFinding(result.OtherPrograms, "")
	ssd.Runs[0].Findings = []result.Finding{others.With("share", .94)}
	ssd.Runs[2].Findings = []result.Finding{others.With("share", .1)}
	golden(
		t,
		"compare.txt",
		told(t, Comparison(compare.WithFirst([]compare.Configuration{disks, ssd}))),
	)

	ssd.Runs[0].Bottleneck = diagnose.Storage
	var v view
	v.explainLimit(ssd)
	assert.Equal(t, "ssd was limited by the CPU (2 of 3 runs), by storage (1)", v.Why[0][:56])
}

// TestRunByItself (E10): a run in the directory that ds2 was called in goes by the name of that,
// and not by ".".
func TestRunByItself(t *testing.T) {
	r := record(t, func(s *result.Summary) {
		s.Noticed = []result.Finding{result.NewFinding(result.IOErrors, "a log would be full")}
	})
	t.Chdir(r.Dir)
	all, _, err := compare.ReadConfigurations(conclude.Reader{}, []string{"."})
	require.NoError(t, err)
	c := all[0]
	name := filepath.Base(r.Dir)
	assert.Equal(t, name, c.Name)
	v := comparison{compare.WithFirst(all)}.view()
	assert.Contains(t, v.All(), name+": a log would be full.")
}

// TestWhiskersEndAtZero: no rate is below 0, however far two runs lie apart.
func TestWhiskersEndAtZero(t *testing.T) {
	varying := []compare.Configuration{benchOf("ssd", "", 100, 300)} // ± 700
	for _, l := range (comparison{}).barChart("two", compare.Metrics[0], varying).Lines {
		for _, p := range l.Points {
			assert.False(t, p[1] != nil && *p[1] < 0, "%s ends below 0", l.Name)
		}
	}
}

// TestOtherUnits: a run whose drives were not counted has its result in another unit, and no column
// beside the others.
func TestOtherUnits(t *testing.T) {
	c := benchOf("ssd", "", 100, 300, 200)
	c.Spec.Words.Unit = result.IOPS
	for i := range c.Runs[1:] {
		c.Runs[i+1].Figure.Unit = result.IOPS
	}
	apart := runsApart(c)
	require.Len(t, apart, 2)
	b := comparison{}.barChart("", compare.Metrics[0], apart)
	assert.Equal(t, result.IOPS, b.YName)
	assert.Equal(t, []string{"2", "3"}, b.Names)
}

// TestBenchWithoutRuns draws the page of a bench that was killed before its first run.
func TestBenchWithoutRuns(t *testing.T) {
	c := compare.Configuration{Name: "a", Dir: t.TempDir()}
	c.Kind = result.KindBench
	c.Status = result.Running
	assert.NotEmpty(t, written(t, Bench(c)))
}

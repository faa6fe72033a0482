package mailbox

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/conclude"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// TestTrend simulates the counters of a drive over hours.
func TestTrend(t *testing.T) {
	for _, c := range []struct {
		why    string
		length time.Duration
		change float64 // of the IOPS over the window
		rows   int
		says   string
	}{
		{"a day that loses a tenth", 24 * time.Hour, -0.1, 24, "IOPS have a trend of -10"},
		{
			"a day that stays", 24 * time.Hour, 0, 24,
			"IOPS have no trend over the window, by 24 parts",
		},
		{"two hours", 2 * time.Hour, 0, 10, "by 10 parts"},
		{"a minute", time.Minute, 0, 0, ""},
	} {
		start := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
		random := rand.New(rand.NewPCG(19, 8))
		table := sampling.Table{Columns: []string{
			"disk.sda.reads_per_second",
			"disk.sda.writes_per_second",
			"disk.sda.read_seconds",
			"db.size_bytes",
			"disk.sdb.reads_per_second",
		}}
		var series measure.Series
		seconds := int(c.length.Seconds())
		for i := 1; i <= seconds; i++ {
			level := 1 + c.change*float64(i)/float64(seconds)
			at := time.Duration(i) * time.Second
			values := []float64{level * (100 + 20*random.NormFloat64()), level * 50, 0.005, 1e9, 0}
			table.Rows = append(table.Rows, sampling.Row{Time: start.Add(at), Values: values})
			series.Samples = append(
				series.Samples,
				measure.Sample{End: at, Counts: measure.Counts{Orders: 40}},
			)
		}
		happened := result.Happened{
			Start: start,
			Machine: &topology.Machine{Drives: []topology.Drive{
				{
					Name:  "sda",
					Roles: []topology.Role{topology.Data},
				},
				{Name: "sdb", Roles: []topology.Role{topology.Log}},
			}},
		}
		in := conclude.Input{Happened: happened, Series: series, Counters: table}
		r := run{Input: in, Storage: &sampling.Storage{}}
		sections := r.describeTrend([]measure.Window{{From: 0, To: c.length.Seconds()}})
		if c.rows == 0 {
			assert.Nil(t, sections, c.why)
			continue
		}
		require.Len(t, sections, 1, c.why)
		require.Len(t, sections[0].Rows, c.rows, c.why)
		require.Contains(t, strings.Join(sections[0].Notes, " "), c.says, c.why)
		if c.change == 0 {
			first := strings.Join(sections[0].Rows[0], " ")
			assert.Regexp(t, ` 50\.0 0\.0 40\.0 5\.000 5\.000 – – 1000$`, first, c.why)
		}
		for _, row := range sections[0].Rows {
			assert.Equal(t, len(sections[0].Head), len(row), "%s: %q", c.why, row)
		}
	}
}

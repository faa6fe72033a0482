package runs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/monitor"
	"ds2/internal/sampling"
)

// TestTracedRun: a run has the times of the log's flushes, of which there are as many as the server
// counts, in its record, second by second, and limits are judged by them.
func TestTracedRun(t *testing.T) {
	t.Parallel()
	_, o := ready(t, localpg.Options{DataDir: devicetest.TempDir(t)})
	o.LimitTexts = []string{"log flush p99.9 < 1us"}
	observe(t, &o, monitor.Options{IOTrace: true})
	if o.Observer.IOTrace == nil {
		t.Skip(o.Observer.Notes)
	}
	r := recorded(t, begin(t, o), nil)

	w := r.Windows[0]
	drive := o.Observer.Machine.Drives[0].Name
	flushes := w.IO[drive+" log flush"]
	syncs := r.Host.Mean(
		sampling.DatabaseLogSyncs,
		r.Start,
		r.Start.Add(o.RunTime.Duration),
	) * (w.To - w.From)
	t.Logf("%d flushes, of %.0f that the server counted: %+v", flushes.Count, syncs, flushes)
	require.InEpsilon(
		t,
		syncs,
		flushes.Count,
		.6,
		"the seconds of the server's counters are not those of the window",
	)
	require.InEpsilon(t, flushes.P999/1000, *r.Limits[0].Measured, 1e-9)
	require.False(t, r.Limits[0].OK)
	require.Contains(t, r.Host.Columns, sampling.ItemColumn("io.p99_seconds", drive+" log flush"))
}

package runs

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/nightly"
	"ds2/internal/result"
)

// TestCheckpointsOfARun makes checkpoints in mid-run: they must stand in the record, and a window must take whole cycles
// of them. The one before the users start belongs to none.
func TestCheckpointsOfARun(t *testing.T) {
	nightly.Long(t, "drives for 14 s")
	t.Parallel()
	server, s := loaded(t, localpg.Options{})
	o := options(t, s)
	o.Driver.Run = 14 * time.Second
	o.Idle = 2 * time.Second
	o.CheckpointFirst = true
	o.Windows = []measure.WindowSpec{{Name: "checkpoints", Cycles: 2}, {Name: "rest", Span: measure.Span{From: 3 * time.Second, To: 13 * time.Second}}}
	var err error
	if o.Observer, err = monitor.Observe(t.Context(), o.Targets, o.Driver.Run, monitor.Options{}); err != nil {
		t.Fatal(err)
	}
	run, err := Begin(o)
	require.NoError(t, err)
	made := make(chan error, 1)
	go func() {
		for _, at := range []time.Duration{3 * time.Second, 7 * time.Second, 11 * time.Second} {
			for run.Meter().Progress().Last.End < at {
				if !Pause(t.Context(), nil, 50*time.Millisecond) {
					return
				}
			}
			if _, err := s.DB().ExecContext(t.Context(), "CHECKPOINT"); err != nil {
				made <- err
				return
			}
		}
		made <- nil
	}()
	summary, err := drive(t, run)
	if err != nil {
		t.Fatalf("%v\n%s", err, server.LogFile())
	}
	require.NoError(t, <-made)
	r, err := result.Read(o.Dir)
	require.NoError(t, err)
	if len(summary.Checkpoints) < 3 || len(r.Checkpoints) != len(summary.Checkpoints) || len(r.Series.Cycles) != 3 {
		t.Fatalf("checkpoints %v, in the record %v, cycles %v; want three in the run", summary.Checkpoints, r.Checkpoints, r.Series.Cycles)
	}
	for i, want := range []float64{3, 7, 11} {
		if at := r.Series.Cycles[i].Seconds(); at < want-1.5 || at > want+2.5 {
			t.Errorf("checkpoint %d at %.1f s, want about %.0f", i, at, want)
		}
	}
	w := summary.Windows[0]
	if math.Abs(w.From-r.Series.Cycles[0].Seconds()) > .5 || math.Abs(w.To-r.Series.Cycles[2].Seconds()) > .5 || !w.Cycle.Whole { // to the sample
		t.Errorf("window from %v to %v, %+v; want whole cycles of %v", w.From, w.To, w.Cycle, r.Series.Cycles)
	}
	if why := summary.Windows[1].Cycle.Why; !strings.Contains(why, "only part of a checkpoint cycle") {
		t.Errorf("a window beside the cycles: %q", why)
	}
	if !summary.Parameters.CheckpointFirst {
		t.Error("the record does not say that a checkpoint was made first")
	}
	if _, err := r.Series.Compute(measure.WindowSpec{Name: "checkpoints", Cycles: 2}); err != nil {
		t.Errorf("from the record: %v", err)
	}
}

package runs

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/nightly"
	"ds2/internal/result"
)

// TestCheckpointsOfARun makes checkpoints in mid-run: they must stand in the record, and a window must take whole
// cycles of them. The one before the users start belongs to none.
func TestCheckpointsOfARun(t *testing.T) {
	nightly.Long(t, "drives for 14 s and more")
	t.Parallel()
	server, s := loaded(t, localpg.Options{})
	o := options(t, s)
	o.Driver.Run = 0 // until stopped
	o.Idle = 2 * time.Second
	o.CheckpointFirst = true
	o.Windows = []measure.WindowSpec{{Name: "checkpoints", Cycles: 2}}
	observe(t, &o, monitor.Options{})
	run := begin(t, o)
	var made [][2]time.Time
	var failed error
	summary, err := driveUntil(t, run, func() {
		later(t.Context(), run, 3*time.Second)
		for len(made) < 3 && failed == nil {
			from := time.Now()
			_, failed = s.DB().ExecContext(t.Context(), "CHECKPOINT")
			made = append(made, [2]time.Time{from, time.Now()})
			later(t.Context(), run, 4*time.Second)
		}
	})
	require.NoError(t, errors.Join(err, failed), server.LogFile())
	r, err := result.Read(o.Dir)
	require.NoError(t, err)
	if len(summary.Checkpoints) < 3 || len(r.Checkpoints) != len(summary.Checkpoints) || len(r.Series.Cycles) != 3 {
		t.Fatalf("checkpoints %v, in the record %v, cycles %v; want three in the run", summary.Checkpoints, r.Checkpoints, r.Series.Cycles)
	}
	for i, cycle := range r.Series.Cycles { // the server tells times to the second
		if at := r.Start.Add(cycle); at.Before(made[i][0].Add(-1500*time.Millisecond)) || at.After(made[i][1].Add(1500*time.Millisecond)) {
			t.Errorf("checkpoint %d at %s, and it was made from %s to %s", i, at, made[i][0], made[i][1])
		}
	}
	w, sample := summary.Windows[0], 0. // of a second, and longer on a busy machine
	for _, s := range r.Series.Samples {
		sample = max(sample, s.Length.Seconds())
	}
	if math.Abs(w.From-r.Series.Cycles[0].Seconds()) > sample || math.Abs(w.To-r.Series.Cycles[2].Seconds()) > sample || sample < 1.5 && !w.Cycle.Whole {
		t.Errorf("window from %v to %v, %+v; want whole cycles of %v", w.From, w.To, w.Cycle, r.Series.Cycles)
	}
	cycles := r.Series.Cycles
	beside, err := r.Series.Compute(measure.WindowSpec{Name: "beside", Span: measure.Span{From: cycles[0] + (cycles[2]-cycles[0])/4, To: cycles[2]}})
	if err != nil || !strings.Contains(beside.Cycle.Why, "only part of a checkpoint cycle") {
		t.Errorf("a window beside the cycles: %+v, %v", beside.Cycle, err)
	}
	assert.True(t, summary.Parameters.CheckpointFirst, "the record does not say that a checkpoint was made first")
	_, err = r.Series.Compute(measure.WindowSpec{Name: "checkpoints", Cycles: 2})
	assert.NoError(t, err, "from the record")
}

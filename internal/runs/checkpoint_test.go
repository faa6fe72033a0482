package runs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/nightly"
)

// TestCheckpointsOfARun makes checkpoints in mid-run: they must stand in the record, and a window
// must take whole cycles of them. The one before the users start belongs to none.
func TestCheckpointsOfARun(t *testing.T) {
	nightly.Long(t, "drives for 14 s and more")
	t.Parallel()
	server, o := ready(t, localpg.Options{})
	o.RunTime.Duration = 0 // until stopped
	o.Idle.Duration = 2 * time.Second
	o.CheckpointFirst = true
	o.WindowTexts = []string{"checkpoints=2"}
	observe(t, &o, monitor.Options{})
	run := begin(t, o)
	var made [][2]time.Time
	var failed error
	r := recorded(t, run, func() {
		later(t, run, 3*time.Second)
		for len(made) < 3 && failed == nil {
			from := time.Now()
			_, failed = o.Databases[0].DB().ExecContext(t.Context(), "CHECKPOINT")
			made = append(made, [2]time.Time{from, time.Now()})
			later(t, run, 4*time.Second)
		}
	})
	require.NoError(t, failed, server.LogFile())
	cycles := r.Series.Cycles
	require.GreaterOrEqual(t, len(r.Checkpoints), 3)
	require.Len(t, cycles, 3)
	const late = 1500 * time.Millisecond
	for i, cycle := range cycles { // the server tells times to the second
		at := r.Start.Add(cycle)
		assert.WithinRange(t, at, made[i][0].Add(-late), made[i][1].Add(late), "checkpoint %d", i)
	}
	// of a second, and longer on a busy machine
	w := r.Windows[0]
	sample := 0.
	for _, s := range r.Series.Samples {
		sample = max(sample, s.Length.Seconds())
	}
	assert.InDelta(t, cycles[0].Seconds(), w.From, sample)
	assert.InDelta(t, cycles[2].Seconds(), w.To, sample)
	assert.True(t, sample >= 1.5 || w.Cycle.Whole, "%+v; want whole cycles of %v", w.Cycle, cycles)
	assert.True(t, r.CheckpointFirst, "the record does not say that a checkpoint was made first")
	_, err := r.Series.Compute(measure.WindowSpec{Name: "checkpoints", Cycles: 2})
	assert.NoError(t, err, "from the record")
}

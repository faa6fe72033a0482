package driver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/result"
)

func TestOpenLoopBelowCapacity(t *testing.T) {
	for _, spacing := range []string{result.Even, result.Poisson} {
		sim := &simulation{service: time.Millisecond}
		c := config(sim)
		c.Rate = 50
		c.Spacing = spacing
		c.RunTime.Duration = 200 * time.Second
		got, totals := driven(t, c)
		w := got.run(t)
		// 10,000 arrivals of a Poisson process have a standard deviation of 100.
		assert.InEpsilon(t, 50*60, w.OPM, 0.04, "%s: as offered", spacing)
		// An order takes 4 ms, and four users are there for one every 20 ms.
		assert.InDelta(t, 4.05, w.Latency["order"].P50, .05, "%s: median, ms", spacing)
		n := totals.Counts
		assert.Equal(t, n.Offered, n.Orders+n.Dropped, spacing)
		assert.LessOrEqual(t, n.Dropped, int64(4), spacing)
	}
}

// TestOpenLoopHidesNoWait has a store that stalls for 5 s once. A closed loop would show one slow
// order; here all that fell due in the meantime are late.
func TestOpenLoopHidesNoWait(t *testing.T) {
	calls := 0
	c := config(&simulation{service: time.Millisecond, slow: func() time.Duration {
		if calls++; calls == 4000 {
			return 5 * time.Second
		}
		return 0
	}})
	c.Threads = 1
	c.Rate = 100
	c.RunTime.Duration = 20 * time.Second
	got, totals := driven(t, c)
	late := 0
	for _, s := range got.Samples {
		if s.Max > 100 {
			late += int(s.Counts.Orders)
		}
	}
	assert.GreaterOrEqual(
		t,
		late,
		500,
		"orders in seconds with late ones: those that fell due in the stall",
	)
	assert.LessOrEqual(t, totals.Counts.Dropped, int64(1))
}

func TestOpenLoopAboveCapacity(t *testing.T) {
	c := config(&simulation{})
	c.Rate = 200 // twice what four users can do
	c.RunTime.Duration = 60 * time.Second
	got, totals := driven(t, c)
	w := got.run(t)
	assert.InDelta(t, 6000, w.OPM, 60, "what the store can do")
	assert.GreaterOrEqual(
		t,
		w.Latency["order"].P50,
		15_000.,
		"about 20 s: 2000 orders wait, and 100 are done a second",
	)
	n := totals.Counts
	assert.Equal(t, n.Offered, n.Orders+n.Dropped)
	assert.GreaterOrEqual(t, n.Dropped, int64(3000))
}

// TestDroppedOrdersWaited: a store that stalls for 20 s in 20 minutes has the percentiles that it
// would have if no order had been dropped, as near as 5 %, and says that they are lower bounds.
func TestDroppedOrdersWaited(t *testing.T) {
	stalled := func(backlog time.Duration) (measure.Window, measure.Distribution) {
		var start time.Time
		c := config(&simulation{service: 2 * time.Millisecond, slow: func() time.Duration {
			if start.IsZero() {
				start = time.Now()
			}
			at := time.Since(start)
			if at < 300*time.Second || at > 320*time.Second {
				return 0
			}
			return 320*time.Second - at
		}})
		c.Rate = 50
		c.backlog = backlog
		c.RunTime.Duration = 1200 * time.Second
		got, _ := driven(t, c)
		all, err := got.Distributions(got.Phase(measure.PhaseRun))
		require.NoError(t, err)
		return got.run(t), all.Operations[measure.WholeOrder]
	}
	kept, _ := stalled(time.Hour)
	w, orders := stalled(0)
	want := kept.Latency[measure.WholeOrder]
	got := w.Latency[measure.WholeOrder]
	t.Logf(
		"p99 %.0f ms of %.0f, p99.9 %.0f of %.0f, %d dropped",
		got.P99,
		want.P99,
		got.P999,
		want.P999,
		got.Dropped,
	)
	assert.Zero(t, want.Dropped, "where all are kept")
	assert.Nil(t, want.AtLeastFrom)
	assert.Equal(t, w.Counts.Dropped, got.Dropped)
	assert.GreaterOrEqual(t, got.Dropped, int64(400))
	assert.InEpsilon(t, want.P99, got.P99, .05)
	assert.Equal(t, want.P50, got.P50)
	atLeast := []bool{orders.AtLeast(.99), orders.AtLeast(.5), orders.AtLeast(1)}
	assert.Equal(
		t,
		[]bool{true, false, true},
		atLeast,
		"p99, p50 and the mean are at least so high",
	)
}

package driver

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
)

func TestOpenLoopBelowCapacity(t *testing.T) {
	for _, poisson := range []bool{false, true} {
		sim := &simulation{service: time.Millisecond}
		c := config(sim)
		c.Arrivals = Arrivals{Rate: 50, Poisson: poisson}
		c.Run = 200 * time.Second
		got, totals, err := drive(t, c, nil)
		require.NoError(t, err)
		w, err := got.Window("run", got.Phase(measure.PhaseRun))
		require.NoError(t, err)
		// 10,000 arrivals of a Poisson process have a standard deviation of 100.
		if math.Abs(w.OPM-50*60) > 0.04*50*60 {
			t.Errorf("poisson %t: OPM = %v, want about 3000 as offered", poisson, w.OPM)
		}
		// An order takes 4 ms, and four users are there for one every 20 ms.
		if p50 := w.Latency["order"].P50; p50 < 4 || p50 > 4.1 {
			t.Errorf("poisson %t: median %v ms, want 4", poisson, p50)
		}
		if n := totals.Counts; n.Offered-n.Dropped != n.Orders || n.Dropped > 4 {
			t.Errorf("poisson %t: offered %d, dropped %d, orders %d", poisson, n.Offered, n.Dropped, n.Orders)
		}
	}
}

// TestOpenLoopHidesNoWait has a store that stalls for 5 s once. A closed loop would show one slow order; here all that
// fell due in the meantime are late.
func TestOpenLoopHidesNoWait(t *testing.T) {
	calls := 0
	c := config(&simulation{service: time.Millisecond, slow: func() time.Duration {
		if calls++; calls == 4000 {
			return 5 * time.Second
		}
		return 0
	}})
	c.Threads = 1
	c.Arrivals = Arrivals{Rate: 100}
	c.Run = 20 * time.Second
	got, totals, err := drive(t, c, nil)
	require.NoError(t, err)
	late := 0
	for _, s := range got.Samples {
		if s.Max > 100 {
			late += int(s.Counts.Orders)
		}
	}
	if late < 500 || totals.Counts.Dropped > 1 {
		t.Errorf("%d orders in seconds with late ones, dropped %d; want the 500 that fell due in the stall, and none dropped", late, totals.Counts.Dropped)
	}
}

func TestOpenLoopAboveCapacity(t *testing.T) {
	c := config(&simulation{service: 10 * time.Millisecond})
	c.Arrivals = Arrivals{Rate: 200} // twice what four users can do
	c.Run = 60 * time.Second
	got, totals, err := drive(t, c, nil)
	require.NoError(t, err)
	w, err := got.Window("run", got.Phase(measure.PhaseRun))
	require.NoError(t, err)
	if math.Abs(w.OPM-6000) > 60 {
		t.Errorf("OPM = %v, want what the store can do, 6000", w.OPM)
	}
	if p50 := w.Latency["order"].P50; p50 < 15_000 {
		t.Errorf("median %v ms, want about 20 s: 2000 orders wait, and 100 are done a second", p50)
	}
	if n := totals.Counts; n.Offered != n.Orders+n.Dropped || n.Dropped < 3000 {
		t.Errorf("offered %d, orders %d, dropped %d; want what was offered to be one or the other", n.Offered, n.Orders, n.Dropped)
	}
}

// TestDroppedOrdersWaited: a store that stalls for 20 s in 20 minutes has the percentiles that it would have if no
// order had been dropped, as near as 5 %, and says that they are lower bounds.
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
		c.Arrivals = Arrivals{Rate: 50, backlog: backlog}
		c.Run = 1200 * time.Second
		got, _, err := drive(t, c, nil)
		require.NoError(t, err)
		run := got.Phase(measure.PhaseRun)
		w, err := got.Window("run", run)
		require.NoError(t, err)
		all, err := got.Distributions(run)
		require.NoError(t, err)
		return w, all.Operations[measure.WholeOrder]
	}
	kept, _ := stalled(time.Hour)
	w, orders := stalled(0)
	want, got := kept.Latency[measure.WholeOrder], w.Latency[measure.WholeOrder]
	t.Logf("p99 %.0f ms of %.0f, p99.9 %.0f of %.0f, %d dropped", got.P99, want.P99, got.P999, want.P999, got.Dropped)
	if want.Dropped != 0 || want.AtLeastFrom != nil || got.Dropped != w.Counts.Dropped || got.Dropped < 400 {
		t.Errorf("%d dropped where all are kept, else %d of %d", want.Dropped, got.Dropped, w.Counts.Dropped)
	}
	if math.Abs(got.P99/want.P99-1) > .05 || got.P50 != want.P50 {
		t.Errorf("p50 %v and p99 %v ms, want %v and %v", got.P50, got.P99, want.P50, want.P99)
	}
	if !orders.AtLeast(.99) || orders.AtLeast(.5) || !orders.MeanAtLeast() {
		t.Errorf("p99 is at least so high: %t; p50: %t", orders.AtLeast(.99), orders.AtLeast(.5))
	}
}

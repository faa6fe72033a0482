package measure

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDrainBelongsToNoWindow: samples close a little after their second, and the orders that drain
// in the 96 ms after the run phase are none of its window's, neither in the rate nor in the
// response times.
func TestDrainBelongsToNoWindow(t *testing.T) {
	const ms = time.Millisecond
	m := newRecording()
	m.Enter(PhaseWarmup)
	for second := 1; second <= 54; second++ {
		orders := 256
		took := 2 * ms
		end := time.Duration(second)*s + time.Duration(second%3)*ms
		if second <= 14 {
			orders = 100
			took = ms
		}
		m.orders(orders, took, took)
		m.sample(end)
		if second == 14 {
			m.interval(end)
			m.Enter(PhaseRun)
		}
	}
	m.interval(54 * s)
	m.Enter(PhaseDrain)
	m.orders(44, 3*time.Second, 3*time.Second)
	m.sample(54*s + 96*ms)
	m.interval(54*s + 96*ms)

	for _, c := range []struct {
		why  string
		span Span
		from float64
	}{
		{"the run phase", m.series.Phase(PhaseRun), 14.002},
		{"a window given in whole seconds", Span{14 * s, 54 * s}, 14.002},
		{"a window within the run", Span{20 * s, 54 * s}, 20.002},
	} {
		w, err := m.series.Window("w", c.span)
		require.NoError(t, err)
		assert.Equal(t, [2]float64{c.from, 54}, [2]float64{w.From, w.To}, c.why)
		orders := int64(256 * (54 - int(w.From)))
		length := time.Duration((w.To-w.From)*1e9 + .5)
		assert.Equal(t, orders, w.Counts.Orders, c.why)
		assert.Equal(t, OrdersPerMinute(orders, length), w.OPM, c.why)
		l := w.Latency[WholeOrder]
		assert.True(
			t,
			l.Count == 0 || l.Mean == 2 && l.Max <= 2.1,
			"%s: latency %+v has orders of the drain",
			c.why,
			l,
		)
	}
	p := m.Progress()
	assert.Equal(t, Average{40 * 256, 39.998}, p.Since)
	assert.Equal(t, 40*256*60/39.998, p.Cumulative)
}

// TestMeansAreExact: histograms keep response times to 1 %, and means to the nanosecond.
func TestMeansAreExact(t *testing.T) {
	m := newRecording()
	var sum, own time.Duration
	for i := range 1000 {
		d := 12_345_678*time.Nanosecond + time.Duration(i)*997*time.Nanosecond
		m.orders(1, d, d/2)
		sum = sum + d
		own = own + d/2
	}
	m.sample(s)
	m.interval(s)
	w, err := m.series.Window("w", Span{0, s})
	require.NoError(t, err)
	want := float64(sum) / 1e6 / 1000
	assert.Equal(
		t,
		[]float64{want, want},
		[]float64{w.Latency[WholeOrder].Mean, m.series.Samples[0].Mean},
	)
	assert.Equal(t, new(float64(own)/1e6/1000), w.OwnMean)
}

// TestWindowThatStoodStill: users wait for a lock for 112 of 125 s, in three whole checkpoint
// cycles. The interval is not that of the cycles, which all have a rate of 0; the window says how
// long it stood still, and that it is none of a rate.
func TestWindowThatStoodStill(t *testing.T) {
	series := Series{Cycles: []time.Duration{}}
	for second := 1; second <= 125; second++ {
		at := time.Duration(second) * time.Second
		s := Sample{End: at, Length: time.Second, Phase: PhaseRun, Users: 2}
		if second <= 13 {
			s.Counts.Orders = 250
		}
		if second >= 20 && second%30 == 20 {
			series.Cycles = append(series.Cycles, at)
		}
		series.Samples = append(series.Samples, s)
	}
	w, err := series.Window("run", Span{0, 125 * time.Second})
	require.NoError(t, err)
	if w.CI95 != nil {
		assert.Greater(t, *w.CI95, w.OPM/2)
	}
	assert.InDelta(t, 112./125, w.Still, 1e-9)
	assert.Equal(t, 112., w.LongestStill)
	assert.Contains(t, w.Failed(), "nothing was completed in 90 % of the window run")

	few := Series{}
	for second := 1; second <= 300; second++ { // an order a quarter of a minute is no stall
		at := time.Duration(second) * time.Second
		s := Sample{End: at, Length: time.Second, Phase: PhaseRun, Users: 1}
		if second%15 == 0 {
			s.Counts.Orders = 1
		}
		few.Samples = append(few.Samples, s)
	}
	w, err = few.Window("run", Span{0, 300 * time.Second})
	require.NoError(t, err)
	assert.Zero(t, w.Still)
	assert.Empty(t, w.Failed())
}

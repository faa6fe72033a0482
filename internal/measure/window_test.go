package measure

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDrainBelongsToNoWindow: samples close a little after their second, and the orders that drain in the 96 ms after
// the run phase are none of its window's, neither in the rate nor in the response times.
func TestDrainBelongsToNoWindow(t *testing.T) {
	m := NewMeter([]string{"login"}, []string{"host/db"})
	user := m.NewRecorder(0)
	order := func(n int, d time.Duration) {
		for range n {
			var o Order
			o.Complete(0, d, d)
			user.Record(&o)
		}
	}
	var series Series
	sample := func(end time.Duration) {
		series.Samples = append(series.Samples, m.Sample(end, make([]Users, 1)))
	}
	m.Enter(PhaseWarmup)
	for second := 1; second <= 14; second++ {
		order(100, time.Millisecond)
		sample(time.Duration(second)*s + time.Duration(second%3)*time.Millisecond)
	}
	series.Intervals = append(series.Intervals, m.Interval(14*s+2*time.Millisecond))
	m.Enter(PhaseRun)
	for second := 15; second <= 54; second++ {
		order(256, 2*time.Millisecond)
		sample(time.Duration(second)*s + time.Duration(second%3)*time.Millisecond)
	}
	series.Intervals = append(series.Intervals, m.Interval(54*s))
	m.Enter(PhaseDrain)
	order(44, 3*time.Second)
	sample(54*s + 96*time.Millisecond)
	series.Intervals = append(series.Intervals, m.Interval(54*s+96*time.Millisecond))

	for _, c := range []struct {
		why  string
		span Span
		from float64
	}{
		{"the run phase", series.Phase(PhaseRun), 14.002},
		{"a window given in whole seconds", Span{14 * s, 54 * s}, 14.002},
		{"a window within the run", Span{20 * s, 54 * s}, 20.002},
	} {
		w, err := series.Window("w", c.span)
		require.NoError(t, err)
		assert.True(t, w.From == c.from && w.To == 54,
			"%s: from %v to %v s, want %v to 54", c.why, w.From, w.To, c.from)
		orders := int64(256 * (54 - int(w.From)))
		length := time.Duration((w.To-w.From)*1e9 + .5)
		assert.Equal(t, orders, w.Counts.Orders, c.why)
		assert.Equal(t, OrdersPerMinute(orders, length), w.OPM, c.why)
		if l := w.Latency[WholeOrder]; l.Count > 0 && (l.Mean != 2 || l.Max > 2.1) {
			t.Errorf("%s: latency %+v has orders of the drain", c.why, l)
		}
	}
	p := m.Progress()
	assert.True(t, p.Since.Orders == 40*256 && p.Since.Seconds == 39.998 && p.Cumulative == 40*256*60/39.998,
		"cumulative %v of %+v, want that of the run phase", p.Cumulative, p.Since)
}

// TestMeansAreExact: histograms keep response times to 1 %, and means to the nanosecond.
func TestMeansAreExact(t *testing.T) {
	m := NewMeter([]string{"login"}, []string{"host/db"})
	user := m.NewRecorder(0)
	var sum, ds2 time.Duration
	for i := range 1000 {
		var o Order
		d := 12_345_678*time.Nanosecond + time.Duration(i)*997*time.Nanosecond
		o.AddLatency(0, d/3)
		o.Complete(0, d, d/2)
		sum, ds2 = sum+d, ds2+d/2
		user.Record(&o)
	}
	var series Series
	series.Samples = append(series.Samples, m.Sample(s, make([]Users, 1)))
	series.Intervals = append(series.Intervals, m.Interval(s))
	w, err := series.Window("w", Span{0, s})
	require.NoError(t, err)
	want := float64(sum) / 1e6 / 1000
	if l := w.Latency[WholeOrder]; l.Mean != want || series.Samples[0].Mean != want {
		t.Errorf("mean %v ms, of the second %v; want %v", l.Mean, series.Samples[0].Mean, want)
	}
	if want := float64(ds2) / 1e6 / 1000; w.OwnMean == nil || *w.OwnMean != want {
		t.Errorf("mean in the workload's own meaning %v, want %v", w.OwnMean, want)
	}
}

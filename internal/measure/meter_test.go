package measure

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMeterLosesNothing has users record while samples are taken and figures read.
func TestMeterLosesNothing(t *testing.T) {
	const users, orders = 8, 20_000
	m := NewMeter([]string{"login", "purchase"}, []string{"a", "b"})
	var wg sync.WaitGroup
	for i := range users {
		r := m.NewRecorder(i % 2)
		wg.Go(func() {
			var o Order
			for range orders {
				o.AddLatency(0, time.Millisecond)
				o.AddLatency(1, 2*time.Millisecond)
				o.Complete(0, 3*time.Millisecond, 3*time.Millisecond)
				o.Fail(Failure{"login", "deadlock"})
				r.Record(&o)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	var counted, errors int64
	var series Series
	for at, last := s, false; !last; at += s {
		select {
		case <-done:
			last = true
		default:
		}
		sample := m.Sample(at, make([]Users, 2))
		counted += sample.Counts.Orders
		errors += sample.Errors
		series.Samples, series.Intervals = append(series.Samples, sample), append(
			series.Intervals,
			m.Interval(at),
		)
		m.Totals()
	}
	assert.EqualValues(t, users*orders, counted, "orders of samples")
	assert.EqualValues(t, users*orders, errors, "errors of samples")
	w, err := series.Window("w", Span{0, time.Duration(len(series.Samples)) * s})
	require.NoError(t, err)
	for series, want := range map[string]float64{"login": 1, "purchase": 2, WholeOrder: 3} {
		assert.EqualValues(t, users*orders, w.Latency[series].Count, series)
		assert.InDelta(t, 1.005*want, w.Latency[series].P50, .005*want, series)
	}
	for _, total := range m.Totals() {
		assert.EqualValues(t, users*orders/2, total.Counts.Orders, total.Target)
		assert.Equal(t, users*orders/2*2*time.Millisecond, total.Durations[1].Sum, total.Target)
		assert.EqualValues(
			t,
			users*orders/2,
			total.Errors[Failure{"login", "deadlock"}],
			total.Target,
		)
	}
}

// A recording is what a meter records of one user.
type recording struct {
	*Meter
	user   *Recorder
	series Series
}

func newRecording() *recording {
	m := NewMeter([]string{"login"}, []string{"host/db"}, "rollbacks")
	return &recording{Meter: m, user: m.NewRecorder(0)}
}

// orders are n of one operation, which takes half of their time, and own is that in the workload's
// own meaning.
func (r *recording) orders(n int, took, own time.Duration) {
	for range n {
		var o Order
		o.AddLatency(0, took/2)
		o.Own[0]++
		o.Complete(0, took, own)
		r.user.Record(&o)
	}
}

func (r *recording) sample(end time.Duration) {
	r.series.Samples = append(r.series.Samples, r.Sample(end, make([]Users, 1)))
}

func (r *recording) interval(end time.Duration) {
	r.series.Intervals = append(r.series.Intervals, r.Interval(end))
}

func TestTallySinceReset(t *testing.T) {
	r := newRecording()
	r.orders(7, 10*time.Millisecond, 2*time.Millisecond)
	r.sample(s)
	since, all, reset := r.SinceReset()
	assert.True(t, since == s && !reset && all[0].Orders == 7 && all[0].Number[0] == 7,
		"before the run phase: %+v since %s, set back: %v; want 7 orders", all, since, reset)
	r.Enter(PhaseRun)
	r.orders(3, 10*time.Millisecond, 2*time.Millisecond)
	r.sample(2 * s)
	since, all, reset = r.SinceReset()
	got := all[0]
	assert.True(t, since == s && reset, "since %s, set back: %v", since, reset)
	assert.EqualValues(t, 3, got.Orders)
	assert.EqualValues(t, 3, got.Of("rollbacks"))
	assert.Equal(t, 15*time.Millisecond, got.Sum[0])
	assert.Equal(t, 6*time.Millisecond, got.OwnTime)
}

func TestLongResponseTimesAreKept(t *testing.T) {
	d := newDistribution("login")
	for _, t := range []time.Duration{-time.Second, 0, time.Nanosecond, 90 * time.Minute} {
		d.add(t)
	}
	l := d.Latency()
	assert.True(
		t,
		l.Count == 4 && l.Max >= 3.6e6,
		"latency %+v, want all 4, the longest as an hour",
		l,
	)
}

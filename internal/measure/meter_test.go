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
		series.Samples, series.Intervals = append(series.Samples, sample), append(series.Intervals, m.Interval(at))
		m.Totals()
	}
	assert.True(t, counted == users*orders && errors == users*orders,
		"samples hold %d orders and %d errors, want %d of each", counted, errors, users*orders)
	w, err := series.Window("w", Span{0, time.Duration(len(series.Samples)) * s})
	require.NoError(t, err)
	for series, want := range map[string]float64{"login": 1, "purchase": 2, WholeOrder: 3} {
		if l := w.Latency[series]; l.Count != users*orders || l.P50 < want || l.P50 > 1.01*want {
			t.Errorf("latency of %s = %+v, want %d of %v ms", series, l, users*orders, want)
		}
	}
	for _, total := range m.Totals() {
		if total.Counts.Orders != users*orders/2 || total.Durations[1].Sum != users*orders/2*2*time.Millisecond ||
			total.Errors[Failure{"login", "deadlock"}] != users*orders/2 {
			t.Errorf("totals of %s: %+v", total.Target, total.Counts)
		}
	}
}

func TestTallySinceReset(t *testing.T) {
	m := NewMeter([]string{"login"}, []string{"a"}, "rollbacks")
	r := m.NewRecorder(0)
	record := func(n int) {
		for range n {
			var o Order
			o.AddLatency(0, 2*time.Millisecond)
			o.Complete(0, 5*time.Millisecond, 2*time.Millisecond)
			o.Own[0]++
			r.Record(&o)
		}
	}
	record(7)
	m.Sample(s, make([]Users, 1))
	if got := m.SinceReset()[0]; got.Orders != 7 || got.Number[0] != 7 {
		t.Errorf("before the run phase: %+v, want 7 orders", got)
	}
	m.Enter(PhaseRun)
	record(3)
	m.Sample(2*s, make([]Users, 1))
	got := m.SinceReset()[0]
	if got.Orders != 3 || got.Of("rollbacks") != 3 || got.Sum[0] != 6*time.Millisecond || got.OwnTime != got.Sum[0] {
		t.Errorf("in the run phase: %+v, want the 3 orders since its begin", got)
	}
}

func TestLongResponseTimesAreKept(t *testing.T) {
	d := newDistribution("login")
	for _, t := range []time.Duration{-time.Second, 0, time.Nanosecond, 90 * time.Minute} {
		d.add(t)
	}
	if l := d.Latency(); l.Count != 4 || l.Max < 3.6e6 {
		t.Errorf("latency %+v, want all 4, the longest as an hour", l)
	}
}

// BenchmarkRecord is what measuring costs an order of seven operations.
func BenchmarkRecord(b *testing.B) {
	m := NewMeter(make([]string, 7), []string{"a"})
	r := m.NewRecorder(0)
	var o Order
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for op := range 7 {
			o.AddLatency(op, time.Millisecond)
		}
		o.Complete(0, 7*time.Millisecond, 7*time.Millisecond)
		r.Record(&o)
		if n++; n%5000 == 0 {
			m.Sample(time.Duration(n), make([]Users, 1))
		}
	}
}

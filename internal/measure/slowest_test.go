package measure

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSlowest: of some users' orders the slowest of each interval are kept, with the operation that
// took the time and when; what an order that was given up, or dropped, took is not of the next one.
func TestSlowest(t *testing.T) {
	const ms = time.Millisecond
	m := NewMeter([]string{"login", "purchase"}, []string{"a"})
	users := []*Recorder{m.NewRecorder(0), m.NewRecorder(0)}
	random := rand.New(rand.NewPCG(1, 2))
	var all []SlowOrder
	now := time.Duration(0)
	for i := range 2000 {
		var o Order
		if i%50 == 0 {
			o.AddLatency(0, time.Hour)
			o.GiveUp()
			o.Waited(time.Hour)
		}
		login := time.Duration(random.IntN(1000)) * ms
		purchase := time.Duration(random.IntN(1000))*ms + time.Duration(i)
		waited := 100 * ms
		if i%3 == 0 {
			waited = 2 * time.Second
		}
		now += ms
		o.AddLatency(0, login)
		o.AddLatency(1, purchase)
		begun := now - purchase - login
		s := SlowOrder{begun - waited, now, "purchase", now - purchase, now}
		if login > purchase {
			s.Operation = "login"
			s.OperationFrom = begun
			s.OperationTo = now - purchase
		}
		if i%3 == 0 {
			s.Operation, s.OperationFrom, s.OperationTo = WaitForUser, s.From, begun
		}
		o.Complete(now, s.Took(), purchase)
		all = append(all, s)
		users[i%2].Record(&o)
		if i%500 == 499 {
			m.Sample(now, make([]Users, 1))
		}
		if i%1000 == 999 {
			require.Equal(t, Series{Slow: all}.Slowest(Span{0, now}), m.Interval(now).Slowest)
			all = nil
		}
	}
	series := Series{Slow: []SlowOrder{{From: 1, To: 2}, {From: 1, To: 5}, {From: 1, To: 9}}}
	require.Equal(t, []SlowOrder{{From: 1, To: 5}}, series.Slowest(Span{2, 8}))
	series.Slow = slices.Repeat(series.Slow, MostSlow)
	require.Len(t, series.Slowest(Span{0, 9}), MostSlow)
}

package conclude

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// TestSlowest: the slowest orders of a window have the cause that the record shows, and no more of them wait for locks
// than sessions did.
func TestSlowest(t *testing.T) {
	at := func(seconds float64) time.Duration { return time.Duration(math.Round(1000*seconds)) * time.Millisecond }
	order := func(from, to float64, io string, part float64) measure.SlowOrder {
		return measure.SlowOrder{
			From: at(from), To: at(to), Operation: "purchase", OperationFrom: at(from), OperationTo: at(to),
			IO: io, IOTime: at(part * (to - from)),
		}
	}
	waiting := order(3.1, 3.9, measure.NoIO, 0)
	waiting.Operation = measure.WaitForUser
	table := sampled(1, 60, func(second int) []float64 {
		switch second {
		case 20:
			return []float64{1, 1, .5}
		case 30, 31:
			return []float64{float64(31 - second), 0, .5}
		case 33:
			return []float64{math.NaN(), 1, .5}
		case 41:
			return []float64{0, 0, .97}
		}
		return []float64{0, 0, .5}
	}, monitor.ItemColumn(monitor.SessionsWaitingForLock, "a"), monitor.ItemColumn(monitor.SessionsWaitingForLock, "b"),
		monitor.CPUBusy)
	in := Input{Happened: result.Happened{Start: start}, Counters: table}
	in.Checkpoints = []monitor.Checkpoint{{From: 50, To: 55}}
	in.Series.Slow = []measure.SlowOrder{
		order(1.1, 1.2, monitor.WaitLogFlush, .9), order(2.1, 2.2, monitor.WaitDataRead, .5), waiting,
		order(4.1, 4.2, monitor.WaitLogFlush, .4), order(5.1, 5.2, measure.NoIO, 0),
		order(19.5, 20.3, measure.NoIO, 0), order(19.4, 20.2, measure.NoIO, 0), // two sessions waited
		order(19.9, 20.1, measure.NoIO, 0),
		order(29.5, 31.5, measure.NoIO, 0), // in one sample of two
		order(32.5, 33.5, measure.NoIO, 0), // one database did not answer
		order(40.2, 40.4, measure.NoIO, 0), order(51, 52, measure.NoIO, 0),
		order(61, 70, monitor.WaitLogFlush, 1), // after the window
	}
	s := newView(in, &measure.Window{To: 60}).slowest()
	causes := map[float64]string{}
	for _, o := range s.Orders {
		causes[o.From] = o.Cause
	}
	require.Equal(t, map[float64]string{
		1.1: result.CauseLogFlush, 2.1: result.CauseDataRead, 3.1: result.CauseUser,
		4.1: result.Unexplained, 5.1: result.Unexplained,
		19.5: result.CauseLock, 19.4: result.CauseLock, 19.9: result.Unexplained,
		29.5: result.Unexplained, 32.5: result.Unexplained,
		40.2: result.CauseProcessors, 51: result.CauseCheckpoint,
	}, causes)
	first := s.Causes[0]
	require.Equal(t, result.CauseLock, first.Cause)
	require.Equal(t, 2, first.Orders)
	require.Equal(t, map[string]int{"purchase": 2}, first.Operations)
	require.InEpsilon(t, 800, first.Longest, 1e-9)
	require.Equal(t, result.Unexplained, s.Causes[len(s.Causes)-1].Cause)
	require.True(t, s.Traced)
	require.Nil(t, newView(in, &measure.Window{From: 70, To: 80}).slowest())
}

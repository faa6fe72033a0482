package conclude

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// TestDisturbances: an event before orders are back from another is part of its disturbance, and what comes too late
// for a figure says so.
func TestDisturbances(t *testing.T) {
	var in Input
	for second := range 60 {
		s := measure.Sample{End: time.Duration(second+1) * time.Second, Length: time.Second, Phase: measure.PhaseRun}
		if second < 20 || second >= 27 {
			s.Counts.Orders = 100
		}
		in.Series.Samples = append(in.Series.Samples, s)
	}
	for _, from := range []float64{20, 27, 45, 55} {
		in.Events = append(in.Events, result.Event{From: from})
	}
	all := disturbances(in)
	require.Len(t, all, 3)
	require.Equal(t, []int{1, 2}, all[0].Events)
	require.Equal(t, []int{3}, all[1].Events)
	require.InDelta(t, 700, all[0].Lost, 1e-6)
	require.InDelta(t, 7, *all[0].Back, 1e-6)
	require.Zero(t, all[1].Lost)
	require.NotEmpty(t, all[2].Unknown)
	require.Nil(t, disturbanceConditions(all))
	require.Equal(t, []result.Condition{
		{Name: result.LostOrders, Value: all[0].Lost}, {Name: result.LongestOrder, Unit: "ms"},
		{Name: result.BackAfter, Value: *all[0].Back, Unit: "s"},
	}, disturbanceConditions(all[:2]))
}

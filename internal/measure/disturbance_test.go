package measure

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDisturbance: what a stall of 7 s costs, and when orders are back, is what the samples say by
// hand.
func TestDisturbance(t *testing.T) {
	const rate, from, stall = 200, 80, 7
	run := func(disturb func(second int, s *Sample)) Series {
		random := rand.New(rand.NewPCG(3, 4))
		series := everySecond(150, func(int) float64 { return rate + 10*random.NormFloat64() })
		for second := range series.Samples {
			if second < 10 {
				series.Samples[second].Phase = PhaseWarmup
			}
			disturb(second, &series.Samples[second])
		}
		return series
	}
	at := func(seconds int) time.Duration { return time.Duration(seconds) * time.Second }

	s := run(func(second int, s *Sample) {
		if second >= from && second < from+stall {
			s.Counts.Orders = 0
			s.Failures = []FailureCount{{Operation: "purchase", Class: "timeout", Count: 2}}
		}
		if second == from+stall {
			s.Max = 7100
		}
	})
	d, err := s.Disturbance(at(from), at(from))
	require.NoError(t, err)
	require.InEpsilon(t, 60*rate, d.Undisturbed, .02)
	require.InEpsilon(t, stall, *d.Back, .1)
	require.InEpsilon(t, stall*rate, d.Lost, .1)
	require.NotNil(t, d.LostCI95, d.NoCI95)
	require.InDelta(t, stall*rate, d.Lost, *d.LostCI95)
	require.Less(t, *d.LostCI95, .2*stall*rate)
	require.Equal(
		t,
		[]FailureCount{{Operation: "purchase", Class: "timeout", Count: 2 * stall}},
		d.Errors,
	)
	require.InDelta(t, 7100, d.Longest, 0)

	d, err = s.Disturbance(at(120), at(from)) // nothing happens then
	require.NoError(t, err)
	require.Zero(t, *d.Back)
	require.InDelta(t, 0, d.Lost, *d.LostCI95)

	d, err = run(func(second int, s *Sample) {
		if second >= from {
			s.Counts.Orders /= 2
		}
	}).Disturbance(at(from), at(from))
	require.NoError(t, err)
	require.Nil(t, d.Back, "it never ends")
	require.InEpsilon(t, (150-from)*rate/2, d.Lost, .1)

	_, err = s.Disturbance(at(15), at(15))
	require.ErrorContains(t, err, "an undisturbed rate takes 10 s of it before the first event")
	_, err = s.Disturbance(at(145), at(from))
	require.ErrorContains(t, err, "takes 10 s of the run phase, which ends at 150 s")
	short, err := s.Disturbance(at(30), at(30))
	require.NoError(t, err)
	require.Nil(t, short.LostCI95)
	require.Contains(t, short.NoCI95, "20 samples")
}

package measure

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// everySecond is a run phase of one-second samples with so many orders each.
func everySecond(seconds int, orders func(second int) float64) Series {
	s := Series{Samples: make([]Sample, seconds)}
	for i := range s.Samples {
		counts := Counts{Orders: int64(orders(i))}
		end := time.Duration(i+1) * time.Second
		s.Samples[i] = Sample{End: end, Length: time.Second, Phase: PhaseRun, Counts: counts}
	}
	return s
}

// autoregressive makes a run phase of one-second samples whose long-run mean is level orders a second, with noise of
// 5 % of which phi is left from each second to the next.
func autoregressive(random *rand.Rand, seconds int, phi float64, level func(t float64) float64) Series {
	noise := random.NormFloat64()
	return everySecond(seconds, func(second int) float64 {
		noise = phi*noise + math.Sqrt(1-phi*phi)*random.NormFloat64()
		return math.Round(level(float64(second)) + 500*noise)
	})
}

// TestConfidenceOfACycle: with checkpoints every 300 s that halve the rate for a fifth of the time, the interval of a
// window of 200 s must hold the long-run mean, wherever the window lies in the cycle.
func TestConfidenceOfACycle(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	held := 0
	const runs = 500
	for range runs {
		offset := 300 * random.Float64()
		s := autoregressive(random, 1200, .5, func(t float64) float64 {
			if math.Mod(t+offset, 300) < 60 {
				return 5000
			}
			return 10_000
		})
		window := s.Samples[1000:]
		half, _, err := s.ci95(window)
		require.NoError(t, err)
		if math.Abs(OrdersPerMinute(ordersOf(window))-60*9000) <= half {
			held++
		}
	}
	assert.GreaterOrEqual(t, float64(held)/runs, .93, "intervals that hold the mean")
}

func TestNoIntervalOfAFewSeconds(t *testing.T) {
	w, err := synthetic(49, 0, 0.05, constant(1000)).Window("w", Span{0, 49 * time.Second})
	require.NoError(t, err)
	assert.Nil(t, w.CI95)
	assert.Equal(t, "too short for a confidence interval: 49 samples, and it takes 50", w.NoCI95)
	assert.Nil(t, w.Trend, "49 samples have a trend")
}

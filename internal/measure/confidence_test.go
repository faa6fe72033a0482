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

func TestNoIntervalOfAFewSeconds(t *testing.T) {
	w, err := synthetic(49, 0, 0.05, constant(1000)).Window("w", Span{0, 49 * time.Second})
	require.NoError(t, err)
	assert.Nil(t, w.CI95)
	assert.Equal(t, "too short for a confidence interval: 49 samples, and it takes 50", w.NoCI95)
	assert.Nil(t, w.Trend, "49 samples have a trend")
}

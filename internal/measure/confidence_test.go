package measure

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/nightly"
)

// everySecond is a run phase of one-second samples with so many orders each.
func everySecond(seconds int, orders func(second int) float64) Series {
	s := Series{Samples: make([]Sample, seconds)}
	for i := range s.Samples {
		s.Samples[i] = Sample{
			End:    time.Duration(i+1) * time.Second,
			Length: time.Second,
			Phase:  PhaseRun,
			Counts: Counts{Orders: int64(orders(i))},
		}
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

// TestConfidenceIntervals draws runs of which the long-run mean is known: 95 % intervals must hold it, and those that
// rest on few independent samples are marked. How wide they are, and of other series, is in
// docs/evidence/2026-11-simulations.md.
func TestConfidenceIntervals(t *testing.T) {
	nightly.Long(t, "draws runs for half a minute")
	const runs = 500
	for _, c := range []struct {
		run, window int
		phi         float64
		held        float64 // at least this share of the intervals
		marked      float64 // at least this share
		most        float64 // and at most
	}{
		{1200, 200, 0, .93, 0, 0},
		{1200, 200, .95, .93, 0, .05},
		{1200, 60, .9, .93, 0, .05},
		{1200, 1200, 0, .93, 0, 0},
		{1200, 1200, .9, .93, 0, .05},
		{1200, 1200, .95, .93, 0, .05},
		{60, 60, 0, .93, 0, .1},
		{200, 200, .8, .92, 0, .2},
		{200, 200, .95, .90, .5, 1},
	} {
		random := rand.New(rand.NewPCG(3, 4))
		marked, held := 0., 0.
		for range runs {
			s := autoregressive(random, c.run, c.phi, constant(10_000))
			window := s.Samples[c.run-c.window:]
			half, few, err := s.ci95(window)
			require.NoError(t, err)
			if few != "" {
				marked++
			}
			if math.Abs(opmOf(window)-600_000) <= half {
				held++
			}
		}
		t.Logf("window of %4d s in %4d s, φ = %.2f: %.3f of the intervals hold the mean, %.3f are marked",
			c.window, c.run, c.phi, held/runs, marked/runs)
		assert.True(t, held/runs >= c.held-.02 && marked/runs >= c.marked && marked/runs <= c.most,
			"want at least %v, and %v to %v marked", c.held, c.marked, c.most)
	}
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
		if math.Abs(opmOf(window)-60*9000) <= half {
			held++
		}
	}
	assert.GreaterOrEqual(t, float64(held)/runs, .93, "intervals that hold the mean")
}

func opmOf(samples []Sample) float64 { return OrdersPerMinute(ordersOf(samples)) }

func TestNoIntervalOfAFewSeconds(t *testing.T) {
	w, err := synthetic(49, 0, 0.05, constant(1000)).Window("w", Span{0, 49 * time.Second})
	if err != nil || w.CI95 != nil || w.NoCI95 != "too short for a confidence interval: 49 samples, and it takes 50" {
		t.Errorf("interval %v of 49 samples, %q, %v", w.CI95, w.NoCI95, err)
	}
	assert.Nil(t, w.Trend, "49 samples have a trend")
}

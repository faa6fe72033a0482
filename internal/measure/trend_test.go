package measure

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/nightly"
)

// TestTrend draws 1,000 runs a case: seconds that resemble their neighbours must seldom pass for a trend, and a loss
// that matters must be seen.
func TestTrend(t *testing.T) {
	nightly.Long(t, "draws 19,000 runs")
	const runs = 1000
	for _, c := range []struct {
		run, window int
		change      float64 // over the run
		low, high   float64 // share of the runs in which a trend is found
		phis        []float64
	}{
		{1200, 200, 0, 0, .02, []float64{0, .5, .8, .9}},
		{1200, 1200, 0, 0, .02, []float64{0, .5, .9}},
		{200, 200, 0, 0, .02, []float64{.5, .8}},
		{200, 200, 0, 0, .03, []float64{.9}},
		{60, 60, 0, 0, .02, []float64{0, .5}},
		{60, 60, 0, 0, .03, []float64{.8, .9}},
		{3600, 3600, -.08, .95, 1, []float64{.9}},
		{1200, 200, -.5, .95, 1, []float64{0}},
		{60, 60, -.2, .95, 1, []float64{0}},
	} {
		for _, phi := range c.phis {
			random, found := rand.New(rand.NewPCG(2, 1)), 0.
			for range runs {
				level := func(t float64) float64 { return 10_000 * (1 + c.change*t/float64(c.run)) }
				s := autoregressive(random, c.run, phi, level)
				if trend := s.trend(s.Samples[c.run-c.window:], Steadiness{}); trend != nil && trend.Found {
					found++
				}
			}
			assert.True(t, found/runs >= c.low && found/runs <= c.high, "%d of %d s, φ = %g, change %g: found %.3f",
				c.window, c.run, phi, c.change, found/runs)
		}
	}
}

// TestTrendAndSteadiness: what a report says of the two must not contradict itself, and a large drift is not excused.
func TestTrendAndSteadiness(t *testing.T) {
	for _, c := range []struct {
		why           string
		rate          func(second int) float64
		steady, trend string
	}{
		{"a line, which fails both of SNIA's rules", func(s int) float64 { return float64(1000 + 20*s) },
			"not steady: the rate drifts by +184.8 % over the window, more than 12.5 %, and fifths of the window " +
				"differ by 147.8 %, more than 20 %", "the rate has a trend of +184.8 % over the window ("},
		{"level", func(s int) float64 { return 1000 + float64(s*7919%13) },
			"steady: ", "no trend in the rate was found ("},
		{"a small loss, second by second", func(s int) float64 { return 1000 - float64(s)/20 },
			"steady: ", "the rate has a trend of -6.2 % over the window ("},
		{"a large one", func(s int) float64 { return 1000 - float64(s)/5 },
			"not steady: the rate drifts by -2", "the rate has a trend of -2"},
		{"the last fifth alone is higher, and every sixty seconds it is slow for thirty", func(s int) float64 {
			slow := 0.5 * float64(s/30%2)
			if s >= 960 {
				return 1250 * (1 - slow)
			}
			return 1000 * (1 - slow)
		}, "not steady: the rate drifts by +2", "this window does not show whether the drift continues ("},
	} {
		s := everySecond(1200, c.rate)
		steady := s.judge(spanOf(s.Samples))
		trend := s.trend(s.Samples, steady)
		require.NotNil(t, trend, c.why)
		assert.True(t, strings.HasPrefix(steady.Why, c.steady), "%s: %s", c.why, steady.Why)
		assert.True(t, strings.HasPrefix(trend.Why, c.trend), "%s: %s", c.why, trend.Why)
		assert.True(t, strings.HasSuffix(trend.Why, "significant at 0.01)"), "%s: %s", c.why, trend.Why)
	}
}

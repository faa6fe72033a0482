package measure

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTrend draws 1,000 runs a case: seconds that resemble their neighbours must seldom pass for a trend, and a loss
// that matters must be seen.
func TestTrend(t *testing.T) {
	const runs = 1000
	for _, c := range []struct {
		run, window int
		phi         float64
		change      float64 // over the run
		low, high   float64 // share of the runs in which a trend is found
	}{
		{1200, 200, 0, 0, 0, .02},
		{1200, 200, .5, 0, 0, .02},
		{1200, 200, .8, 0, 0, .02},
		{1200, 200, .9, 0, 0, .02},
		{1200, 1200, 0, 0, 0, .02},
		{1200, 1200, .5, 0, 0, .02},
		{1200, 1200, .9, 0, 0, .02},
		{200, 200, .5, 0, 0, .02},
		{200, 200, .8, 0, 0, .02},
		{200, 200, .9, 0, 0, .03},
		{60, 60, 0, 0, 0, .02},
		{60, 60, .5, 0, 0, .02},
		{60, 60, .8, 0, 0, .03},
		{60, 60, .9, 0, 0, .03},
		{3600, 3600, .9, -.08, .95, 1},
		{1200, 200, 0, -.5, .95, 1},
		{60, 60, 0, -.2, .95, 1},
	} {
		random := rand.New(rand.NewPCG(2, 1))
		found, told := 0., 0.
		for range runs {
			level := func(t float64) float64 { return 10_000 * (1 + c.change*t/float64(c.run)) }
			s := autoregressive(random, c.run, c.phi, level)
			trend := s.trend(s.Samples[c.run-c.window:], Steadiness{})
			if trend == nil {
				continue
			}
			told++
			if trend.Found {
				found++
			}
		}
		t.Logf("%4d of %4d s, φ = %.2f, change %.2f: found %.3f, told %.3f",
			c.window, c.run, c.phi, c.change, found/runs, told/runs)
		assert.True(t, found/runs >= c.low && found/runs <= c.high, "want found from %v to %v", c.low, c.high)
	}
}

// TestTrendAndSteadiness: what a report says of the two must not contradict itself, and a large drift is not excused.
func TestTrendAndSteadiness(t *testing.T) {
	for _, c := range []struct {
		why           string
		rate          func(second int) float64
		steady, trend string
	}{
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
		}, "not steady: the rate drifts by +2", "whether the drift goes on cannot be said from this window ("},
	} {
		s := everySecond(1200, c.rate)
		steady := judge(s.Samples)
		trend := s.trend(s.Samples, steady)
		if trend != nil && !strings.HasSuffix(trend.Why, "significant at 0.01)") {
			t.Errorf("%s: %q does not say at which level", c.why, trend.Why)
		}
		assert.True(t, strings.HasPrefix(steady.Why, c.steady) && trend != nil && strings.HasPrefix(trend.Why, c.trend),
			"%s: %q and %+v, want %q and %q", c.why, steady.Why, trend, c.steady, c.trend)
	}
}

func TestTrendOfAnExactLine(t *testing.T) {
	s := everySecond(100, func(second int) float64 { return float64(100 + second) })
	trend := s.trend(s.Samples, Steadiness{})
	assert.True(t, trend != nil && trend.Found && math.Abs(trend.Percent-100*100/149.5) <= 1e-9, "%+v", trend)
}

func TestSignificance(t *testing.T) {
	for p, want := range map[float64]string{
		0.0104:  "p = 0.01, not significant at 0.01",
		0.00998: "p = 0.00998, significant at 0.01",
		0.0001:  "p = 0.0001, significant at 0.01",
		0.0097:  "p = 0.0097, significant at 0.01",
		1:       "p = 1, not significant at 0.01",
	} {
		assert.Equal(t, want, Significance(p, 0.01), "Significance(%v)", p)
	}
}

// TestSteadinessNamesEveryRule: a window that fails both of SNIA's rules says so of both.
func TestSteadinessNamesEveryRule(t *testing.T) {
	why := judge(everySecond(100, func(second int) float64 { return float64(100 + 2*second) }).Samples).Why
	assert.Contains(t, why, "the rate drifts by +")
	assert.Contains(t, why, ", and fifths of the window differ by ")
}

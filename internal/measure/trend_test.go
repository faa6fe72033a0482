package measure

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTrendAndSteadiness: what a report says of the two must not contradict itself, and a large
// drift is not excused.
func TestTrendAndSteadiness(t *testing.T) {
	for _, c := range []struct {
		why           string
		rate          func(second int) float64
		steady, trend string
	}{
		{
			"a line, which fails both of SNIA's rules", func(s int) float64 {
				return float64(1000 + 20*s)
			},
			"not steady: the rate drifts by +184.8 % over the window, more than 12.5 %, and fifths of the window " +
				"differ by 147.8 %, more than 20 %", "the rate has a trend of +184.8 % over the window (",
		},
		{
			"level", func(s int) float64 { return 1000 + float64(s*7919%13) },
			"steady: ", "no trend in the rate was found (",
		},
		{
			"a small loss, second by second", func(s int) float64 { return 1000 - float64(s)/20 },
			"steady: ", "the rate has a trend of -6.2 % over the window (",
		},
		{
			"a large one", func(s int) float64 { return 1000 - float64(s)/5 },
			"not steady: the rate drifts by -2", "the rate has a trend of -2",
		},
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
		assert.True(
			t,
			strings.HasSuffix(trend.Why, "significant at 0.01)"),
			"%s: %s",
			c.why,
			trend.Why,
		)
	}
}

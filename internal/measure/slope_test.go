package measure

import (
	"math"
	"testing"
)

func TestSlope(t *testing.T) {
	for _, c := range []struct {
		why    string
		values []float64
		slope  float64
		n      int
	}{
		{"none", nil, 0, 0},
		{"one", []float64{7}, 0, 1},
		{"a line", []float64{1, 3, 5, 7}, 2, 4},
		{"a line with a gap", []float64{1, math.NaN(), 5, 7}, 2, 3},
		{"level", []float64{4, 4, 4}, 0, 3},
		{"up and down", []float64{1, 2, 2, 1}, 0, 4},
	} {
		if slope, n := Slope(c.values); math.Abs(slope-c.slope) > 1e-12 || n != c.n {
			t.Errorf("%s: %v of %d, want %v of %d", c.why, slope, n, c.slope, c.n)
		}
	}
}

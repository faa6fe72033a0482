package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
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
		slope, n := Slope(c.values)
		assert.InDelta(t, c.slope, slope, 1e-12, c.why)
		assert.Equal(t, c.n, n, c.why)
	}
}

// TestCorrelation checks against figures worked out by hand: of 1 2 3 4 5 and 2 1 4 3 5, r is 0.8 and t is 4/√3, with
// p 0.104.
func TestCorrelation(t *testing.T) {
	for _, c := range []struct{ xs, ys, want []float64 }{
		{[]float64{1, 2, 3, 4, 5}, []float64{2, 1, 4, 3, 5}, []float64{.8, .1041}},
		{[]float64{1, 2, 3, 4}, []float64{-2, -4, -6, -8}, []float64{-1, 0}},
		{[]float64{1, 1, 1}, []float64{1, 2, 3}, []float64{math.NaN(), math.NaN()}}, // without scatter
	} {
		r, p := Correlation(c.xs, c.ys)
		assert.InDeltaSlice(t, c.want, []float64{r, p}, 5e-5, "%v and %v", c.xs, c.ys)
	}
}

// TestStudent checks against a table of Student's t, and that nothing is said without degrees of freedom.
func TestStudent(t *testing.T) {
	for degrees, want := range map[float64]float64{1: 12.706, 4: 2.776, 30: 2.042, 1000: 1.962} {
		assert.InDelta(t, want, Student(.975, degrees), 5e-4, "%g degrees", degrees)
		assert.InDelta(t, .05, twoSided(Student(.975, degrees), degrees), 1e-9, "%g degrees", degrees)
	}
	for _, degrees := range []float64{0, -1, math.NaN()} {
		assert.True(t, math.IsNaN(Student(.975, degrees)) && math.IsNaN(twoSided(2, degrees)), "%g degrees", degrees)
	}
}

// TestHolm takes the example of Holm's paper's kind, and 22 correlations of noise again and again: in about one of
// twenty cases one of them seems to mean something, where without the correction it is in two of three.
func TestHolm(t *testing.T) {
	got := Holm([]float64{0.04, 0.01, math.NaN(), 0.03})
	assert.InDeltaSlice(t, []float64{0.06, 0.03, math.NaN(), 0.06}, got, 1e-12)
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(n int) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = random.NormFloat64()
		}
		return values
	}
	const benches = 2000
	plain, corrected := 0., 0.
	for range benches {
		opm := noise(8)
		ps := make([]float64, 22)
		for i := range ps {
			_, ps[i] = Correlation(noise(8), opm)
		}
		if slices.Min(ps) < 0.05 {
			plain++
		}
		if slices.Min(Holm(ps)) < 0.05 {
			corrected++
		}
	}
	assert.LessOrEqual(t, corrected/benches, .065, "benches of noise that seem to be explained")
	assert.GreaterOrEqual(t, plain/benches, .6, "without the correction")
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

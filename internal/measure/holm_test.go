package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHolm takes the example of Holm's paper's kind, and 22 correlations of noise again and again: in about one of
// twenty cases one of them seems to mean something, where without the correction it is in two of three.
func TestHolm(t *testing.T) {
	got := Holm([]float64{0.04, 0.01, math.NaN(), 0.03})
	for i, want := range []float64{0.06, 0.03, math.NaN(), 0.06} {
		if got[i] != want && math.Abs(got[i]-want) > 1e-12 || math.IsNaN(want) != math.IsNaN(got[i]) {
			t.Errorf("corrected to %v, want %v at %d", got, want, i)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(n int) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = random.NormFloat64()
		}
		return values
	}
	const benches = 2000
	plain, corrected := 0, 0
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
	if share := float64(corrected) / benches; share > 0.065 || float64(plain)/benches < 0.6 {
		t.Errorf("of %d benches of noise %d seem to be explained, and %d without the correction",
			benches, corrected, plain)
	}
}

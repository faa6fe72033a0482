package measure

import (
	"math"
	"testing"
)

// TestCorrelation checks against figures worked out by hand: of 1 2 3 4 5 and 2 1 4 3 5, r is 0.8 and t is 4/√3, with
// p 0.104.
func TestCorrelation(t *testing.T) {
	r, p := Correlation([]float64{1, 2, 3, 4, 5}, []float64{2, 1, 4, 3, 5})
	if math.Abs(r-.8) > 1e-9 || math.Abs(p-.1041) > 1e-4 {
		t.Errorf("r = %v, p = %v; want 0.8 and 0.1041", r, p)
	}
	if r, p := Correlation([]float64{1, 2, 3, 4}, []float64{-2, -4, -6, -8}); r != -1 || p > 1e-6 {
		t.Errorf("on a line: r = %v, p = %v", r, p)
	}
	if r, _ := Correlation([]float64{1, 1, 1}, []float64{1, 2, 3}); !math.IsNaN(r) {
		t.Errorf("without scatter: r = %v", r)
	}
}

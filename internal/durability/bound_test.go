package durability

import (
	"math"
	"testing"
)

// TestShare holds the bounds against tables of Clopper and Pearson's, and against the rule of three.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		k, n     int
		from, to float64
	}{
		{0, 20, 0, 0.1391}, // 1-0.05^(1/20)
		{0, 100, 0, 0.0295},
		{0, 1, 0, 0.95},
		{20, 20, 0.8609, 1},
		{1, 20, 0.0013, 0.2487}, // R: binom.test(1, 20)
		{5, 20, 0.0866, 0.4910},
		{10, 20, 0.2720, 0.7280},
	} {
		from, to := share(c.k, c.n)
		if math.Abs(from-c.from) > 0.0001 || math.Abs(to-c.to) > 0.0001 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.k, c.n, from, to, c.from, c.to)
		}
	}
}

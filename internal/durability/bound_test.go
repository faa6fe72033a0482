package durability

import (
	"math"
	"testing"

	"ds2/internal/result"
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
		{1, 20, 0.0026, 0.2161}, // R: binom.test(1, 20, alternative = "less" and "greater")
		{5, 20, 0.1041, 0.4556},
		{10, 20, 0.3020, 0.6980},
	} {
		from, to := share(c.k, c.n)
		if math.Abs(from-c.from) > 0.0001 || math.Abs(to-c.to) > 0.0001 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.k, c.n, from, to, c.from, c.to)
		}
	}
}

// TestIdleCuts: a cut before which nothing was acknowledged shows nothing, unless the server did not come back.
func TestIdleCuts(t *testing.T) {
	busy, idle, gone := result.Cut{Acknowledged: 5}, result.Cut{}, result.Cut{Error: "it did not come back"}
	for _, c := range []struct {
		cuts        []result.Cut
		idle, lossy int
		to          float64
	}{
		{[]result.Cut{idle, idle}, 2, 0, 1},
		{[]result.Cut{busy, idle}, 1, 0, 0.95},
		{[]result.Cut{busy, gone}, 0, 1, 0.9747},
	} {
		all := Plan{}.conclude(c.cuts)
		if all.Idle != c.idle || all.Lossy != c.lossy || math.Abs(all.To-c.to) > 0.0001 {
			t.Errorf("%+v: %d idle, %d with a loss, at most %.4f", c.cuts, all.Idle, all.Lossy, all.To)
		}
	}
}

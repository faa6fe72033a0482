package durability

import (
	"testing"

	"github.com/stretchr/testify/assert"

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
		assert.InDelta(t, c.from, from, 0.0001, "%d of %d", c.k, c.n)
		assert.InDelta(t, c.to, to, 0.0001, "%d of %d", c.k, c.n)
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
		all := Plan{}.Conclude(c.cuts)
		assert.Equal(t, []int{c.idle, c.lossy}, []int{all.Idle, all.Lossy}, "idle and lossy of %+v", c.cuts)
		assert.InDelta(t, c.to, all.To, 0.0001, "%+v", c.cuts)
	}
}

package measure

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestOrderTrend holds the exact probabilities to the table of Kendall's S, and finds runs each 1 %
// slower than the one before.
func TestOrderTrend(t *testing.T) {
	for _, c := range []struct {
		values []float64
		p      float64
		up     bool
	}{
		{[]float64{1, 2, 3, 4, 5}, 2. / 120, true},
		{[]float64{5, 4, 3, 2, 1}, 2. / 120, false},
		{[]float64{1, 2, 3, 5, 4}, 10. / 120, true},
		{[]float64{1, 2, 3}, 2. / 6, true},
		{[]float64{1}, 1, false},
	} {
		p, up := OrderTrend(c.values)
		assert.InDelta(t, c.p, p, 1e-12, "%v", c.values)
		assert.Equal(t, c.up, up, "%v", c.values)
	}
	random := rand.New(rand.NewPCG(1, 1))
	var runs []float64
	for i := range 9 {
		runs = append(runs, 10_000-100*float64(i)+20*random.NormFloat64())
	}
	p, up := OrderTrend(runs)
	assert.True(t, p < .001 && !up, "%v, p = %v", runs, p)
	found := 0.
	for range 20_000 {
		random.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		if p, _ := OrderTrend(runs); p < .02 {
			found++
		}
	}
	assert.InDelta(t, .014, found/20_000, .006, "of runs in random order")
}

// TestShared: runs that vary less from one to the next than each by itself have something in
// common.
func TestShared(t *testing.T) {
	alike := []float64{1000, 1001, 999, 1000, 1002, 1001}
	of := func(half float64) []*float64 { return []*float64{&half, &half, &half, &half, &half, &half} }
	assert.InDelta(t, 50, Shared(alike, of(98)), 1e-9)
	assert.Zero(t, Shared(alike, of(2)), "they vary as much as each by itself")
	assert.Zero(t, Shared(alike, append(of(98)[:5], nil)), "one has no interval")
	assert.Zero(t, Shared(alike[:1], of(98)[:1]))
}

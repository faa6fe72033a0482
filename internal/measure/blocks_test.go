package measure

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBlocks simulates 1,000 experiments a case, with noise between runs, a drift of 2 % a run, and
// one run in ten a fifth too slow. Of identical systems at most 6 % may be told apart, and the
// intervals must hold the true difference in at least 93 %, also where an experiment stops as soon
// as they are narrow.
func TestBlocks(t *testing.T) {
	const experiments = 1000
	for _, c := range []struct {
		why            string
		truth          float64 // by how much b is faster
		configurations int
		noise          float64 // between runs
		drift, outlier float64 // a run; the share of runs
		blocks         int
		until          float64 // percent; stops at MinBlocks or later
	}{
		{"identical, quiet", 0, 2, .01, 0, 0, 5, 0},
		{"identical, drift and outliers", 0, 2, .01, .02, .1, 5, 0},
		{"identical, drift alone", 0, 2, .01, .02, 0, 5, 0},
		{"identical, little noise", 0, 2, .002, .02, .1, 5, 0},
		{"identical, much noise", 0, 2, .05, .02, .1, 9, 0},
		{"identical, until 2 %", 0, 2, .01, .02, .1, 9, 2},
		{"identical, until 2 %, no outliers", 0, 2, .01, .02, 0, 9, 2},
		{"identical, until 2 %, much noise", 0, 2, .02, .02, 0, 9, 2},
		{"identical, until 2 %, more noise yet", 0, 2, .025, .02, 0, 9, 2},
		{"identical, until 5 %", 0, 2, .05, .02, 0, 9, 5},
		{"three, identical", 0, 3, .01, .02, .1, 6, 2},
		{"15 % faster", .15, 2, .01, .02, .1, 5, 0},
		{"15 % faster, no outliers", .15, 2, .01, .02, 0, 5, 0},
		{"3 % slower, until 2 %", -.03, 3, .01, .02, .1, 9, 2},
	} {
		random := rand.New(rand.NewPCG(7, 9))
		names := []string{"a", "b", "c"}[:c.configurations]
		held := 0.
		significant := 0.
		made := 0.
		for range experiments {
			var all []RunFigure
			for block, order := range RandomBlocks(random, len(names), c.blocks) {
				for _, i := range order {
					value := 50_000 * math.Exp(
						c.noise*random.NormFloat64()+c.drift*float64(len(all)),
					)
					if random.Float64() < c.outlier {
						value *= .8
					}
					if names[i] == "b" {
						value *= 1 + c.truth
					}
					all = append(all, RunFigure{block, len(all), names[i], value})
				}
				made++
				if Enough(names, all, c.until, Looks(c.until > 0, nil, true)) {
					break
				}
			}
			of := Differences(names, all, Looks(c.until > 0, nil, true))[0].Change
			if of.Low <= 100*c.truth && 100*c.truth <= of.High {
				held++
			}
			if of.Significant() {
				significant++
			}
		}
		t.Logf("%s: %.3f of the intervals hold the difference, %.3f significant, %.1f blocks",
			c.why, held/experiments, significant/experiments, made/experiments)
		assert.GreaterOrEqual(
			t,
			held/experiments,
			.93,
			"%s: intervals that hold the difference",
			c.why,
		)
		if c.truth == 0 {
			assert.LessOrEqual(t, significant/experiments, .06, "%s: found different", c.why)
		}
		if c.truth == .15 && c.outlier == 0 {
			assert.GreaterOrEqual(t, significant/experiments, .99, "%s: found different", c.why)
		}
	}
}

func TestDifferences(t *testing.T) {
	var all []RunFigure
	for block := range 5 {
		order := []string{"hdd", "ssd"}
		if block%2 == 1 {
			slices.Reverse(order)
		}
		for i, name := range order {
			run := 2*block + i
			value := 40_000 * math.Pow(1.02, float64(run)) // a drift and nothing else
			if name == "ssd" {
				value *= 1.25
			}
			all = append(all, RunFigure{block, run, name, value})
		}
	}
	d := Differences([]string{"hdd", "ssd", "tape"}, all, 1)
	require.Len(t, d, 3)
	assert.Equal(t, Difference{Base: "hdd", Other: "ssd", Blocks: 5, Change: d[0].Change}, d[0])
	assert.InDelta(t, 25, d[0].Change.Percent, 1e-9)
	assert.True(
		t,
		d[0].Change.High-d[0].Change.Low <= 1e-6 && d[0].Change.Within(1e-6),
		"without noise: %+v",
		d,
	)
	assert.True(
		t,
		d[1].Why == "no block has both" && !d[1].Change.Significant() && !d[1].Change.Within(100),
		"without a run of tape: %+v",
		d[1],
	)
	few := Differences([]string{"hdd", "ssd"}, all[:8], 1)[0]
	assert.Equal(t, "an interval takes 5 blocks with both, and there are 4", few.Why)
	assert.InDelta(t, 25, few.Change.Percent, 1e-9)
	assert.False(t, few.Change.Significant(), "four blocks")
	text, err := json.Marshal(few)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"low_pct":null`)
	var back Difference
	require.NoError(t, json.Unmarshal(text, &back))
	assert.True(
		t,
		back.Blocks == 4 && math.IsNaN(back.Change.Low) &&
			back.Change.Percent == few.Change.Percent,
		"%+v",
		back,
	)
	for i := range all {
		all[i].Run = 2 * all[i].Block
		if all[i].Configuration == "ssd" {
			all[i].Run++
		}
	}
	same := Differences([]string{"hdd", "ssd"}, all, 1)[0]
	assert.Contains(t, same.Why, "they ran in the same order")
	assert.False(t, same.Change.Significant(), "always in the same order")
}

func TestRandomBlocks(t *testing.T) {
	orders := RandomBlocks(rand.New(rand.NewPCG(1, 2)), 4, 5)
	for i, order := range orders {
		assert.Equal(
			t,
			[]int{0, 1, 2, 3},
			slices.Sorted(slices.Values(order)),
			"block %d: %v",
			i,
			order,
		)
	}
	back := slices.Clone(orders[0])
	slices.Reverse(back)
	assert.True(
		t,
		slices.Equal(orders[1], back) && !slices.Equal(orders[2], orders[0]),
		"orders %v",
		orders,
	)
	assert.Equal(t, orders, RandomBlocks(rand.New(rand.NewPCG(1, 2)), 4, 5), "with the same seed")
}

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
// one run in ten a fifth too slow. Of identical systems at most 5 % may be told apart, and the
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
			looks := Looks(c.until > 0, nil, true)
			of := Differences(names, all, WithFirst(len(names)), looks)[0].Change
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
			const chance = 2 * .0069 // of a share of .05 in as many experiments
			assert.LessOrEqual(t, significant/experiments, .05+chance, "%s: found different", c.why)
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
	d := Differences([]string{"hdd", "ssd", "tape"}, all, WithFirst(2), 1)
	require.Len(t, d, 1, "that is stated")
	assert.Equal(t, Difference{Base: "hdd", Other: "ssd", Blocks: 5, Change: d[0].Change}, d[0])
	assert.InDelta(t, 25, d[0].Change.Percent, 1e-9)
	assert.True(
		t,
		d[0].Change.High-d[0].Change.Low <= 1e-6 && d[0].Change.Within(1e-6),
		"without noise: %+v",
		d,
	)
	tape := Differences([]string{"hdd", "ssd", "tape"}, all, EveryTwo(3), 1)[1]
	assert.True(
		t,
		tape.Why == "no block has both" && !tape.Change.Significant() && !tape.Change.Within(100),
		"without a run of tape: %+v",
		tape,
	)
	few := Differences([]string{"hdd", "ssd"}, all[:8], WithFirst(2), 1)[0]
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
	same := Differences([]string{"hdd", "ssd"}, all, WithFirst(2), 1)[0]
	assert.Contains(t, same.Why, "they ran in the same order")
	assert.False(t, same.Change.Significant(), "always in the same order")
}

// TestTogether: of two that ran at the same time on average in each block, as means over two numbers
// of users may, no drift is to be told from the difference.
func TestTogether(t *testing.T) {
	var all []RunFigure
	for block, noise := range []float64{1, -2, 1, 2, -1, -1} {
		all = append(all,
			RunFigure{block, 4 * block, "hdd", 1000},
			RunFigure{block, 4 * block, "ssd", 1100 + noise})
	}
	d := Differences([]string{"hdd", "ssd"}, all, WithFirst(2), 1)[0]
	assert.Empty(t, d.Why)
	assert.InDelta(t, 10, d.Change.Percent, .01)
	assert.True(t, d.Change.Low > 9.8 && d.Change.High < 10.2, "%+v", d.Change)
}

// TestRandomBlocks: each of the first six blocks has its order backwards among them, in a place at
// random, and so have those that follow, four by four; fewer blocks are the first of more.
func TestRandomBlocks(t *testing.T) {
	back := func(order []int) []int {
		order = slices.Clone(order)
		slices.Reverse(order)
		return order
	}
	next := 0
	for seed := range uint64(50) {
		orders := RandomBlocks(rand.New(rand.NewPCG(seed, 2)), 4, 10)
		for _, few := range [][][]int{orders[:6], orders[6:]} {
			for _, order := range few {
				assert.Equal(t, []int{0, 1, 2, 3}, slices.Sorted(slices.Values(order)))
				assert.True(t, slices.ContainsFunc(few, func(other []int) bool {
					return slices.Equal(other, back(order))
				}), "seed %d: %v", seed, orders)
			}
		}
		if slices.Equal(orders[1], back(orders[0])) {
			next++
		}
		fewer := RandomBlocks(rand.New(rand.NewPCG(seed, 2)), 4, 7)
		assert.Equal(t, orders[:7], fewer, "with the same seed")
	}
	assert.Less(t, next, 25, "the second block has the order of the first backwards each time")
}

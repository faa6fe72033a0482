package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/durability"
	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// poisson draws a count, by adding up exponential times.
func poisson(random *rand.Rand, mean float64) (n float64) {
	if mean > 50 {
		return max(0, math.Round(mean+math.Sqrt(mean)*random.NormFloat64()))
	}
	for sum := random.ExpFloat64(); sum < mean; sum += random.ExpFloat64() {
		n++
	}
	return n
}

// TestCounts compares counts of errors of 50,000 orders a run.
func TestCounts(t *testing.T) {
	made := simulated(t, "counts", "errors a run", "runs of each", "identical, told apart",
		"three times as many, found", "their change reads, median")
	for _, c := range []struct {
		mean, burst float64
		runs        int
	}{{1, 0, 5}, {10, 0, 3}, {10, 0, 5}, {500, 0, 5}, {10, 1, 5}, {500, .3, 3}, {500, .3, 5}} {
		random := randomOf(fmt.Sprint("counts", c))
		draw := func(times float64) (all []measure.Rate) {
			for range c.runs {
				of := c.mean * times
				if c.burst > 0 {
					of *= math.Exp(c.burst*random.NormFloat64() - c.burst*c.burst/2)
				}
				all = append(all, measure.Rate{Count: poisson(random, of), Of: 50_000})
			}
			return all
		}
		var read []float64
		of := shares(func() []bool {
			apart, change := measure.CompareCounts(draw(1), draw(1)), measure.CompareCounts(draw(1), draw(3))
			if !math.IsNaN(change.Percent) {
				read = append(read, change.Percent)
			}
			return []bool{apart.Significant(), change.Low > 0}
		})
		name := fmt.Sprint(c.mean)
		if c.burst > 0 {
			name += fmt.Sprintf(", times e^(%g N)", c.burst)
		}
		median := fmt.Sprintf("%+.0f %%", measure.Median(read))
		made.row(name, fmt.Sprint(c.runs), share(of[0]), share(of[1]), median)
		assert.True(t, within(of[0], 0, .06),
			"%s errors in %d runs: %s of identical systems are told apart", name, c.runs, share(of[0]))
	}
}

// TestGates is of a gate and true losses.
func TestGates(t *testing.T) {
	gate, err := limit.ParseGate("opm < -2.5%", nil)
	require.NoError(t, err)
	made := simulated(t, "gates", "true change", "3+3 runs", "5+5 runs", "6 blocks", "9 blocks")
	for _, truth := range []float64{0, -2.5, -5, -10} {
		random, row := randomOf(fmt.Sprint("gates", truth)), []string{fmt.Sprintf("%+g %%", truth)}
		judged := func(v verdicts) string {
			outcomes := map[limit.Outcome]float64{}
			factor := 1 + truth/100
			for _, c := range v {
				c.Low, c.High = 100*((1+c.Low/100)*factor-1), 100*((1+c.High/100)*factor-1)
				outcomes[gate.Judge(c)] += 1 / float64(len(v))
			}
			failed, passed := outcomes[limit.GateFailed], outcomes[limit.GatePassed]
			assert.True(t, truth != -2.5 || within(passed+failed, 0, .06), "at the bound: %v", outcomes)
			return share(failed) + " / " + share(passed) + " / " + share(outcomes[limit.GateOpen])
		}
		made.row(append(row, judged(welch(random, scattered(2), 3)), judged(welch(random, scattered(2), 5)),
			judged(blocked(random, scattered(2), 2, 6, 1)), judged(blocked(random, scattered(2), 2, 9, 1)))...)
	}
}

// TestCuts holds the bounds of the share of cuts that lose anything against the true one.
func TestCuts(t *testing.T) {
	made := simulated(t, "cuts", "cuts", "lossy", "the upper bound holds", "the lower bound holds")
	for _, c := range []struct {
		cuts  int
		lossy float64
	}{{10, .1}, {10, .3}, {20, .05}, {60, .05}, {100, .01}} {
		random := randomOf(fmt.Sprint("cuts", c))
		of := shares(func() []bool {
			var cuts []result.Cut
			for range c.cuts {
				cut := result.Cut{Acknowledged: 1}
				if random.Float64() < c.lossy {
					cut.Lost = 1
				}
				cuts = append(cuts, cut)
			}
			all := durability.Plan{}.Conclude(cuts)
			return []bool{all.To >= c.lossy, all.From <= c.lossy}
		})
		made.row(fmt.Sprint(c.cuts), fmt.Sprintf("%g %%", 100*c.lossy), share(of[0]), share(of[1]))
		assert.True(t, within(of[0], .95, 1) && within(of[1], .95, 1),
			"%v: the bounds hold in %s and %s", c, share(of[0]), share(of[1]))
	}
}

package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ds2/internal/measure"
)

// runs are runs in a row of identical systems.
type runs struct {
	percent float64 // by which they vary
	phi     float64 // what share of that each leaves to the next
	drift   float64 // percent a run
	slow    float64 // percent by which the first is slower
}

// logarithms are those of the figures of n runs.
func (r runs) logarithms(random *rand.Rand, n int) []float64 {
	all := make([]float64, n)
	if r.phi > 0 {
		all = autoregressive(random, n, r.phi)
	}
	for i := range all {
		if r.phi > 0 {
			all[i] = (all[i] - 10_000) / 500 * r.percent / 100
		} else {
			all[i] = r.percent / 100 * random.NormFloat64()
		}
		all[i] += r.drift / 100 * float64(i)
	}
	all[0] += math.Log1p(-r.slow / 100)
	return all
}

// verdicts are changes between identical systems.
type verdicts []measure.Change

func (v verdicts) found() float64 {
	n := 0.
	for _, c := range v {
		if c.Significant() {
			n++
		}
	}
	return n / float64(len(v))
}

// least are the differences, in logarithms, that each verdict would have found, the smallest first:
// what is found shifts with what is true.
func (v verdicts) least() (all []float64) {
	for _, c := range v {
		all = append(all, -math.Log1p(c.Low/100))
	}
	slices.Sort(all)
	return all
}

// detects is the difference, in percent, that would have been found in 80 %.
func (v verdicts) detects() float64 { return 100 * math.Expm1(v.least()[len(v)*8/10]) }

// finds is the share that would have found a difference of a percentage.
func (v verdicts) finds(percent float64) float64 {
	found, _ := slices.BinarySearch(v.least(), math.Log1p(percent/100))
	return float64(found) / float64(len(v))
}

func (v verdicts) String() string { return fmt.Sprintf("%s/%.1f", share(v.found()), v.detects()) }

func welch(random *rand.Rand, of runs, each int) (v verdicts) {
	for range *replicates {
		all := of.logarithms(random, 2*each)
		for i := range all {
			all[i] = math.Exp(all[i])
		}
		v = append(v, measure.Compare(all[:each], all[each:], measure.Alone))
	}
	return v
}

// figuresOf makes an experiment of identical configurations; noise is that of the last one against
// the others.
func figuresOf(
	random *rand.Rand,
	of runs,
	configurations, blocks int,
	noise float64,
) (names []string,
	all []measure.RunFigure,
) {
	for i := range configurations {
		names = append(names, fmt.Sprint("c", i))
	}
	values := of.logarithms(random, blocks*configurations)
	run := 0
	for block, order := range measure.RandomBlocks(random, configurations, blocks) {
		for _, i := range order {
			v := values[run]
			if i == configurations-1 {
				v *= noise
			}
			f := measure.RunFigure{
				Block:         block + 1,
				Run:           run,
				Configuration: names[i],
				Value:         math.Exp(v),
			}
			all = append(all, f)
			run++
		}
	}
	return names, all
}

func blocked(random *rand.Rand, of runs, configurations, blocks int, noise float64) (v verdicts) {
	for range *replicates {
		names, all := figuresOf(random, of, configurations, blocks, noise)
		v = append(v, measure.Differences(names, all, measure.WithFirst(len(names)), 1)[0].Change)
	}
	return v
}

func TestComparisons(t *testing.T) {
	made := simulated(
		t,
		"comparisons",
		"between runs",
		"Welch 3+3",
		"Welch 5+5",
		"5 blocks",
		"6 blocks",
		"9 blocks",
		"6 blocks of 4",
		"6 blocks of 4, the last 5 times as noisy",
	)
	for _, c := range []struct {
		why string
		of  runs
	}{
		{"2 %", runs{percent: 2}},
		{"5 %", runs{percent: 5}},
		{"2 %, drift of 3 % a run", runs{percent: 2, drift: 3}},
		{"5 %, φ .8 from run to run", runs{percent: 5, phi: .8}},
		{"2 %, the first run 15 % slow", runs{percent: 2, slow: 15}},
	} {
		random := randomOf("comparisons " + c.why)
		row := []string{c.why}
		row = append(row, welch(random, c.of, 3).String(), welch(random, c.of, 5).String())
		for _, b := range []struct {
			configurations, blocks int
			noise                  float64
		}{{2, 5, 1}, {2, 6, 1}, {2, 9, 1}, {4, 6, 1}, {4, 6, 5}} {
			v := blocked(random, c.of, b.configurations, b.blocks, b.noise)
			row = append(row, v.String())
			made.hold("identical ones differ", v.found(), .055,
				"%s, %d blocks of %d", c.why, b.blocks, b.configurations)
			if plan := measure.Smallest(2, b.configurations, b.blocks, false); c.why == "2 %" && b.noise == 1 {
				made.hold("a difference 1.15 times as large as the plan says is not found",
					1-v.finds(1.15*plan), .2, "%d blocks of %d", b.blocks, b.configurations)
				made.hold("a difference 1.15 times as small as the plan says is found",
					v.finds(plan/1.15), .8, "%d blocks of %d", b.blocks, b.configurations)
			}
		}
		made.row(row...)
	}
}

// TestLooks has identical systems looked at again and again, until something is significant.
func TestLooks(t *testing.T) {
	made := simulated(
		t,
		"looks",
		"identical systems, 2 % between runs",
		"looked at after",
		"something found",
		"were every look taken for the only one",
	)
	each := []int{5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	for _, c := range []struct {
		why     string
		planned int
		looks   []int
	}{
		{"6 blocks planned", 6, []int{6}},
		{"15 blocks planned", 15, []int{6, 9, 12, 15}},
		{"15 blocks planned", 15, each},
		{"6 blocks planned, continued all the same", 6, []int{6, 9}},
		{"6 blocks planned, continued all the same", 6, []int{6, 9, 12, 15}},
		{"5 blocks planned, continued all the same", 5, each},
	} {
		random := randomOf(fmt.Sprint(c.why, c.looks))
		of := shares(func() []bool {
			names, all := figuresOf(random, runs{percent: 2}, 2, 15, 1)
			found := false
			alone := false
			var before []measure.Look
			for _, blocks := range c.looks {
				done := blocks >= c.planned
				significant := func(looks float64) bool {
					return measure.Differences(names, all[:2*blocks], measure.WithFirst(len(names)), looks)[0].Change.Significant()
				}
				found = found || significant(measure.Looks(false, before, done))
				alone = alone || significant(1)
				before = append(before, measure.Look{Blocks: blocks, Done: done})
			}
			return []bool{found, alone}
		})
		most := .05
		if c.planned < 15 && len(c.looks) > 1 { // the first end has spent the level
			most = .085
		}
		made.row(c.why, listed(c.looks), share(of[0]), share(of[1]))
		made.hold("identical ones differ", of[0], most, "%s, %v", c.why, c.looks)
	}
}

func listed(numbers []int) string {
	if len(numbers) > 4 {
		return fmt.Sprintf("each from %d to %d", numbers[0], numbers[len(numbers)-1])
	}
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(numbers), "[]")), ", ")
}

// TestUntil is of what experiments say that stop when their interval is narrow.
func TestUntil(t *testing.T) {
	made := simulated(
		t,
		"until",
		"variation between runs, as a share of `until`",
		"stop before 15 blocks",
		"hold the truth, of those",
		"hold the truth, of all",
	)
	for _, variation := range []float64{.5, .75, 1, 1.5} {
		random := randomOf(fmt.Sprint("until", variation))
		of := shares(func() []bool {
			names, all := figuresOf(random, runs{percent: 2 * variation}, 2, 15, 1)
			blocks := measure.MinBlocks + 1
			for blocks < 15 && !measure.Enough(names, all[:2*blocks], 2, measure.Looks(true, nil, true)) {
				blocks++
			}
			c := measure.Differences(names, all[:2*blocks], measure.WithFirst(len(names)), measure.Looks(true, nil, true))[0].Change
			holds := c.Low <= 0 && c.High >= 0
			return []bool{blocks < 15, blocks < 15 && holds, holds}
		})
		made.hold("the interval misses the truth", 1-of[2], .07, "%v", variation)
		made.row(fmt.Sprint(variation), share(of[0]), share(of[1]/max(1e-9, of[0])), share(of[2]))
	}
}

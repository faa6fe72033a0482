package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/stat"

	"ds2/internal/compare"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// experiment is one in blocks.
type experiment struct {
	configurations, blocks int
	noise                  float64 // percent from run to run
	first, last            float64 // times as noisy as the others; 0: 1
	faster                 float64 // percent, of the last
}

// figures are those of its runs, with a disturbance.
func (e experiment) figures(
	random *rand.Rand, by func(run int) float64,
) (names []string, all []measure.RunFigure) {
	for i := range e.configurations {
		names = append(names, fmt.Sprint("c", i))
	}
	for block, order := range measure.RandomBlocks(random, e.configurations, e.blocks) {
		for _, i := range order {
			noise := e.noise / 100
			faster := 0.
			switch {
			case i == 0 && e.first > 0:
				noise *= e.first
			case i == e.configurations-1:
				faster = math.Log1p(e.faster / 100)
				if e.last > 0 {
					noise *= e.last
				}
			}
			all = append(all, measure.RunFigure{
				Block: block, Run: len(all), Configuration: names[i],
				Value: math.Exp(noise*random.NormFloat64() + faster + by(len(all))),
			})
		}
	}
	return names, all
}

// told says whether any configuration is said to differ from the first.
func (e experiment) told(random *rand.Rand, by func(run int) float64) bool {
	names, all := e.figures(random, by)
	return anyDiffers(measure.Differences(names, all, measure.WithFirst(len(names)), 1), len(names))
}

// anyDiffers says whether any of the first of some differences, which are those with the first
// configuration, is significant.
func anyDiffers(all []measure.Difference, configurations int) bool {
	return slices.ContainsFunc(all[:configurations-1], func(d measure.Difference) bool {
		return d.Change.Significant()
	})
}

// mostEqual is how often equal configurations may be said to differ under a disturbance.
func mostEqual(disturbance string) float64 {
	if disturbance == "a job of −5 % every fourth run" {
		return .12
	}
	return .06
}

// TestFamilies has equal configurations compared in blocks: how often any differs from the first.
func TestFamilies(t *testing.T) {
	befalls := levelsOf(t, "families", "disturbance")
	head := append([]string{"equal configurations, blocks"}, befalls...)
	made := simulated(t, "families",
		append(head, "the last 5 times as noisy", "the first 2 times as noisy")...)
	for _, k := range numbersOf(t, "families", "configurations") {
		for _, blocks := range numbersOf(t, "families", "blocks") {
			random := randomOf(fmt.Sprint("families", k, blocks))
			row := []string{fmt.Sprintf("%g, %g", k, blocks)}
			e := experiment{configurations: int(k), blocks: int(blocks), noise: 2}
			add := func(e experiment, why string, most float64) {
				of := shares(func() []bool {
					return []bool{e.told(random, disturbances[why](random))}
				})[0]
				row = append(row, share(of))
				made.hold("equal ones differ", of, most, "%+v, %s", e, why)
			}
			for _, why := range befalls {
				add(e, why, mostEqual(why))
			}
			e.last = 5
			add(e, "no disturbance", .07)
			e.last = 0
			e.first = 2
			add(e, "no disturbance", .08)
			made.row(row...)
		}
	}
}

// TestFamiliesByNoise is the same at other noises: the larger a disturbance is beside it, the more
// it does.
func TestFamiliesByNoise(t *testing.T) {
	befalls := levelsOf(t, "families by noise", "disturbance")
	made := simulated(t, "families by noise",
		append([]string{"equal configurations, six blocks", "noise from run to run"}, befalls...)...)
	for _, k := range numbersOf(t, "families by noise", "configurations") {
		for _, noise := range numbersOf(t, "families by noise", "noise") {
			e := experiment{configurations: int(k), blocks: 6, noise: noise}
			random := randomOf(fmt.Sprint("families by noise", k, noise))
			row := []string{fmt.Sprintf("%g", k), fmt.Sprintf("%g %%", noise)}
			for _, why := range befalls {
				of := shares(func() []bool {
					return []bool{e.told(random, disturbances[why](random))}
				})[0]
				row = append(row, share(of))
				most := mostEqual(why)
				if most > .06 && noise < 2 {
					most = .2
				}
				made.hold("equal ones differ", of, most, "%+v, %s", e, why)
			}
			made.row(row...)
		}
	}
}

// dunnett is his factor for three comparisons with the first and 15 degrees of freedom (New Tables
// for Multiple Comparisons with a Control, Biometrics 20, 1964).
const dunnett = 2.61

// pooled is the analysis of variance of randomized blocks for four configurations in six blocks:
// whether any differs from the first, and half the width of an interval, in percent.
func pooled(names []string, all []measure.RunFigure) (differ bool, half float64) {
	const blocks = 6
	logs := map[string][]float64{}
	sums := make([]float64, blocks)
	for _, f := range all {
		logs[f.Configuration] = append(logs[f.Configuration], math.Log(f.Value))
		sums[f.Block] += math.Log(f.Value) / float64(len(names))
	}
	mean := stat.Mean(sums, nil)
	squares := 0.
	for _, name := range names {
		own := stat.Mean(logs[name], nil)
		for block, v := range logs[name] {
			squares += math.Pow(v-own-sums[block]+mean, 2)
		}
	}
	variance := squares / (blocks - 1) / float64(len(names)-1)
	half = dunnett * math.Sqrt(2*variance/blocks)
	for _, name := range names[1:] {
		differ = differ || math.Abs(stat.Mean(logs[name], nil)-stat.Mean(logs[names[0]], nil)) > half
	}
	return differ, 100 * half
}

// TestPooled has the error of all configurations pooled always, and by ds2: where they vary alike.
func TestPooled(t *testing.T) {
	made := simulated(t, "pooled", "four equal configurations, six blocks",
		"ds2: any said to differ", "half width, %", "pooled always: any said to differ", "half width, %")
	for _, c := range []struct {
		why    string
		of     experiment
		befall string
	}{
		{"1 % each", experiment{noise: 1}, "no disturbance"},
		{"the first 2 %, the others 1 %", experiment{noise: 1, first: 2}, "no disturbance"},
		{"the last 4 %, the others 1 %", experiment{noise: 1, last: 4}, "no disturbance"},
		{"the first 4 %, the others 1 %", experiment{noise: 1, first: 4}, "no disturbance"},
		{"1 % each, drift of 3 % a run", experiment{noise: 1}, "drift of 3 % a run"},
		{"1 % each, a job of −5 % every fourth run", experiment{noise: 1}, "a job of −5 % every fourth run"},
		{"1 % each, a day's effect of 2 %", experiment{noise: 1}, "a day's effect of 2 %"},
	} {
		c.of.configurations = 4
		c.of.blocks = 6
		random := randomOf("pooled " + c.why)
		halves := [2]float64{}
		of := shares(func() []bool {
			names, all := c.of.figures(random, disturbances[c.befall](random))
			ours := measure.Differences(names, all, measure.WithFirst(4), 1)
			for _, d := range ours[:3] {
				halves[0] += (d.Change.High - d.Change.Low) / 6 / float64(*replicates)
			}
			differ, half := pooled(names, all)
			halves[1] += half / float64(*replicates)
			return []bool{anyDiffers(ours, 4), differ}
		})
		made.row(c.why, share(of[0]), fmt.Sprintf("%.2f", halves[0]),
			share(of[1]), fmt.Sprintf("%.2f", halves[1]))
		most := .08
		if c.befall == "a job of −5 % every fourth run" {
			most = .2
		}
		made.hold("equal ones differ", of[0], most, "%s", c.why)
	}
}

// TestCost is of what intervals that hold together cost in power and width: before, each was that
// of a difference by itself, with its own variance.
func TestCost(t *testing.T) {
	made := simulated(t, "cost", "configurations, blocks", "any of equal ones said to differ: before",
		"after", "3 % found: before", "after", "5 % found: before", "after",
		"half width, %: before", "after")
	for _, c := range [][2]int{{2, 5}, {2, 6}, {2, 9}, {3, 6}, {4, 6}, {8, 6}} {
		random := randomOf(fmt.Sprint("cost", c))
		halves := [2]float64{}
		of := shares(func() (happened []bool) {
			for _, faster := range []float64{0, 3, 5} {
				e := experiment{configurations: c[0], blocks: c[1], noise: 2, faster: faster}
				names, all := e.figures(random, func(int) float64 { return 0 })
				for i, stated := range []measure.Family{measure.Alone, measure.WithFirst(c[0])} {
					differences := measure.Differences(names, all, stated, 1)
					last := differences[c[0]-2].Change
					if faster > 0 {
						happened = append(happened, last.Low > 0)
						continue
					}
					happened = append(happened, anyDiffers(differences, c[0]))
					halves[i] += (last.High - last.Low) / 2 / float64(*replicates)
				}
			}
			return happened
		})
		row := []string{fmt.Sprintf("%d, %d", c[0], c[1])}
		for _, v := range of {
			row = append(row, share(v))
		}
		made.row(append(row, fmt.Sprintf("%.2f", halves[0]), fmt.Sprintf("%.2f", halves[1]))...)
		assert.True(t, c[0] > 2 || halves[1] < 1.1*halves[0], "%v: %v", c, halves)
	}
}

// TestFactors has arrays at two numbers of users, which complete half as much again at the larger:
// what is said of the arrays at equal numbers.
func TestFactors(t *testing.T) {
	made := simulated(t, "factors", "arrays at two numbers of users", "blocks", "noise", "runs have",
		"any of equal ones said to differ", "the last 2 % faster: an interval misses that",
		"said to depend on users, and does not", "5 % faster at one number: said to depend")
	type row struct {
		arrays, blocks int
		noise          float64
		why            string
	}
	var rows []row
	const quiet = "no disturbance"
	for _, noise := range numbersOf(t, "factors", "noise") {
		rows = append(rows, row{2, 6, noise, quiet})
	}
	for _, blocks := range numbersOf(t, "factors", "blocks") {
		rows = append(rows, row{2, int(blocks), 2, quiet})
	}
	for _, arrays := range numbersOf(t, "factors", "configurations") {
		rows = append(rows, row{int(arrays), 6, 2, quiet})
	}
	for _, why := range levelsOf(t, "factors", "disturbance") {
		rows = append(rows, row{2, 6, 2, why})
	}
	wrong := []string{"equal ones differ", "an interval misses", "equal ones depend on users"}
	done := map[row]bool{}
	for _, r := range rows {
		if done[r] {
			continue
		}
		done[r] = true
		random := randomOf(fmt.Sprint("factors", r))
		of := shares(func() []bool {
			by := disturbances[r.why](random)
			equal := atEqualFactors(random, r.arrays, r.blocks, r.noise, 0, 0, by)
			apart := atEqualFactors(random, r.arrays, r.blocks, r.noise, 2, 0, by)
			more := atEqualFactors(random, r.arrays, r.blocks, r.noise, 0, 5, by)
			var differ, misses, depends bool
			for i, e := range equal {
				differ = differ || *e.Significant
				depends = depends || e.Dependence() != ""
				truth := 0.
				if i == len(equal)-1 {
					truth = 2
				}
				misses = misses || *apart[i].Low > truth || *apart[i].High < truth
			}
			return []bool{differ, misses, depends, more[len(more)-1].Dependence() != ""}
		})
		cells := []string{
			fmt.Sprint(r.arrays), fmt.Sprint(r.blocks), fmt.Sprintf("%g %%", r.noise), r.why,
		}
		for i, v := range of {
			cells = append(cells, share(v))
			if i < len(wrong) {
				made.hold(wrong[i], v, mostEqual(r.why), "%+v", r)
			}
		}
		made.row(cells...)
	}
}

// atEqualFactors is what an experiment says of arrays at 32 and 128 users: the last array is faster
// by a percentage, and by more at 128.
func atEqualFactors(
	random *rand.Rand, arrays, blocks int, noise, faster, more float64, by func(run int) float64,
) []compare.Equal {
	users := []string{"32", "128"}
	all := benchesOf(random, noise, len(users)*arrays, blocks, by)
	for i := range all {
		array := i / 2
		all[i].Of = fmt.Sprint("array ", array)
		all[i].Factors = []result.Setting{{Flag: "threads", Value: users[i%2]}}
		for j := range all[i].Runs {
			value := &all[i].Runs[j].Figure.Value
			if i%2 == 1 {
				*value *= 1.5
			}
			if array == arrays-1 {
				*value *= 1 + faster/100
				if i%2 == 1 {
					*value *= 1 + more/100
				}
			}
		}
	}
	return compare.AtEqualFactors(all, 1)
}

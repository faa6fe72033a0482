package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"ds2/internal/compare"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// TestBenches is of the mean of the runs of a bench.
func TestBenches(t *testing.T) {
	befalls := levelsOf(t, "benches", "disturbance")
	made := simulated(t, "benches", append([]string{
		"a bench of", "noise from run to run, and the mean's interval misses the truth with",
	}, befalls...)...)
	for _, runs := range numbersOf(t, "benches", "benches") {
		for _, noise := range numbersOf(t, "benches", "noise") {
			row := []string{fmt.Sprintf("%g", runs), fmt.Sprintf("%g %%", noise)}
			random := randomOf(fmt.Sprint("benches", runs, noise))
			for _, why := range befalls {
				// the truth is that of many such benches, on other days
				truth := 50_000.
				switch why {
				case "a job of −5 % every fourth run":
					truth *= 1 - .05/4
				case "one run in ten stalls, −10 %":
					truth *= 1 - .1/10
				case "drift of 3 % a run":
					truth *= math.Exp(.03 * (runs - 1) / 2)
				}
				of := shares(func() []bool {
					by := disturbances[why](random)
					b := benchesOf(random, noise, 1, int(runs), by)[0]
					return []bool{math.Abs(*b.RunsMean-truth) > *b.RunsCI95}
				})[0]
				row = append(row, share(of))
				if why == "no disturbance" {
					made.hold("the interval misses the truth", of, .05, "%g at %g %%", runs, noise)
				}
			}
			made.row(row...)
		}
	}
}

// TestOrder is of benches whose runs are in order by chance, by a disturbance, or because each is
// slower.
func TestOrder(t *testing.T) {
	befalls := levelsOf(t, "order", "disturbance")
	made := simulated(t, "order", append([]string{
		"runs", "noise from run to run, and \"fall\" or \"rise one after the other\" is said with",
	}, append(befalls, "a trend of −1 % a run")...)...)
	for _, runs := range numbersOf(t, "order", "benches") {
		for _, noise := range numbersOf(t, "order", "noise") {
			random := randomOf(fmt.Sprint("order", runs, noise))
			row := []string{fmt.Sprintf("%g", runs), fmt.Sprintf("%g %%", noise)}
			said := func(disturbance func(*rand.Rand) func(int) float64) float64 {
				return shares(func() []bool {
					b := benchesOf(random, noise, 1, int(runs), disturbance(random))[0]
					return []bool{result.FindingOf(b.Findings, result.InOrder) != nil}
				})[0]
			}
			for _, why := range befalls {
				of := said(disturbances[why])
				row = append(row, share(of))
				if why == "no disturbance" {
					made.hold("runs are in order", of, .02, "%g runs at %g %%", runs, noise)
				}
			}
			slower := said(func(*rand.Rand) func(int) float64 {
				return func(run int) float64 { return -.01 * float64(run) }
			})
			made.row(append(row, share(slower))...)
		}
	}
}

// TestBenchLooks has two equal benches, which are not in blocks, looked at while more runs of them
// are to come: nothing is told until the planned ones are made.
func TestBenchLooks(t *testing.T) {
	made := simulated(t, "bench looks", "equal benches, 2 % between runs", "looked at after",
		"something found", "were nothing withheld")
	for _, c := range []struct {
		planned int
		looks   []int
	}{
		{5, []int{5}},
		{5, []int{3, 4, 5}},
		{10, []int{3, 4, 5, 6, 7, 8, 9, 10}},
		{5, []int{5, 7, 9}}, // continued all the same
	} {
		random := randomOf(fmt.Sprint("bench looks", c))
		of := shares(func() []bool {
			quiet := disturbances["no disturbance"](random)
			last := c.looks[len(c.looks)-1]
			both := append(benchesOf(random, 2, 1, last, quiet), benchesOf(random, 2, 1, last, quiet)...)
			both[1].Name = "c1"
			var found, alone bool
			for _, runs := range c.looks {
				looked := make([]compare.Configuration, 2)
				values := make([][]float64, 2)
				for i, one := range both {
					one.Runs = one.Runs[:runs:runs]
					one.Spec.Runs = max(c.planned, runs)
					if runs < one.Spec.Runs {
						one.Status = result.Running
					}
					for _, r := range one.Runs {
						values[i] = append(values[i], r.Figure.Value)
					}
					compare.Runs(&one.Bench)
					looked[i] = one
				}
				d := compare.WithFirst(looked).Differences[0]
				found = found || d.Significant != nil && *d.Significant
				alone = alone || measure.Compare(values[0], values[1], measure.Alone).Significant()
			}
			return []bool{found, alone}
		})
		most := .05
		if c.planned < c.looks[len(c.looks)-1] {
			most = .09 // the planned end has spent the level
		}
		made.row(fmt.Sprintf("%d runs each planned", c.planned), listed(c.looks), share(of[0]), share(of[1]))
		made.hold("equal ones differ", of[0], most, "%+v", c)
	}
}

// TestWelch is of benches with as many runs each or not.
func TestWelch(t *testing.T) {
	made := simulated(
		t,
		"welch",
		"runs of the one, at 2 %",
		"of the other",
		"equal ones said to differ",
	)
	for _, c := range [][2]int{{2, 2}, {3, 3}, {5, 5}, {3, 9}, {2, 5}, {2, 9}} {
		random := randomOf(fmt.Sprint("welch", c))
		of := shares(func() []bool {
			var all []float64
			for range c[0] + c[1] {
				all = append(all, math.Exp(.02*random.NormFloat64()))
			}
			return []bool{measure.Compare(all[:c[0]], all[c[0]:], measure.Alone).Significant()}
		})[0]
		made.row(fmt.Sprint(c[0]), fmt.Sprint(c[1]), share(of))
		made.hold("equal ones differ", of, .1, "%v runs", c)
	}
}

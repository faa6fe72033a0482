package simulate

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"ds2/internal/compare"
	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// benchesOf are equal configurations whose runs, nothing of which is reserved by itself, vary by a
// percentage: in blocks, or one bench.
func benchesOf(
	random *rand.Rand, noise float64, configurations, runs int, by func(run int) float64,
) []compare.Configuration {
	all := make([]compare.Configuration, configurations)
	for i := range all {
		all[i].Name = fmt.Sprint("c", i)
		all[i].Status = result.Done
		all[i].Spec.Runs = runs
	}
	run := 0
	for block, order := range measure.RandomBlocks(random, configurations, runs) {
		for _, i := range order {
			value := 50_000 * math.Exp(noise/100*random.NormFloat64()+by(run))
			r := result.BenchRun{
				Dir: fmt.Sprint("run-", block), Status: result.Done, Bottleneck: diagnose.Storage,
				Headline: result.NewHeadline(&result.Figure{Unit: result.OPM, Value: value}),
			}
			if configurations > 1 {
				all[i].Experiment = "e"
				r.Block = block + 1
				r.Number = run
			}
			all[i].Runs = append(all[i].Runs, r)
			run++
		}
	}
	for i := range all {
		compare.Runs(&all[i].Bench)
	}
	return all
}

// trusted is how often something is called trustworthy, and how often it is and something is wrong.
type trusted struct{ said, missed, far float64 }

func (all *trusted) add(one trusted) {
	all.said += one.said
	all.missed += one.missed
	all.far += one.far
}

func (all trusted) shares() []string {
	return []string{
		share(all.said), share(all.missed),
		share(all.missed / max(1e-9, all.said)), share(all.far / max(1e-9, all.said)),
	}
}

// hold is what method.md promises of what is called trustworthy.
func (all trusted) hold(made *table, cell string, args ...any) {
	made.t.Helper()
	made.hold("trustworthy and wrong", all.missed, .05, cell, args...)
	if all.said >= .1 {
		said := all.said * float64(*replicates)
		made.holdAmong("trustworthy ones lie far from the truth", all.far/all.said, said, .06, cell, args...)
	}
}

var trustHead = []string{
	"trustworthy", "trustworthy, and an interval misses the truth", "share of the trustworthy",
	"share of the trustworthy that lies more than 5 % from the truth",
}

// compared is what a comparison of equal configurations in blocks says.
func compared(
	random *rand.Rand, noise float64, configurations, blocks int, disturbance string,
) (said, missed, far bool) {
	by := disturbances[disturbance](random)
	c := compare.WithFirst(benchesOf(random, noise, configurations, blocks, by))
	for _, d := range c.Differences {
		missed = missed || *d.Significant
		far = far || math.Abs(d.Percent) > 5
	}
	return result.WorstEffect(c.Findings) == result.Informs, missed, far
}

func trustOf(of []float64) trusted { return trusted{of[0], of[1], of[2]} }

// TestTrust is of how often a comparison in blocks is trustworthy, and how often it is and the
// truth lies outside an interval: at each noise, and over all of them.
func TestTrust(t *testing.T) {
	made := simulated(t, "trust", append([]string{"configurations, blocks"}, trustHead...)...)
	byNoise := another(t, "trust by noise", append([]string{"blocks", "noise from run to run"},
		trustHead...)...)
	noises := numbersOf(t, "trust", "noise")
	for _, k := range numbersOf(t, "trust", "configurations") {
		for _, blocks := range numbersOf(t, "trust", "blocks") {
			if k > 2 && blocks != measure.DefaultBlocks {
				continue
			}
			name := fmt.Sprintf("%g, %g", k, blocks)
			random := randomOf("trust " + name)
			var all trusted
			for _, noise := range noises {
				of := trustOf(shares(func() []bool {
					said, missed, far := compared(random, noise, int(k), int(blocks), "no disturbance")
					return []bool{said, said && missed, said && far}
				}))
				if k == 2 {
					byNoise.row(append([]string{
						fmt.Sprint(blocks), fmt.Sprintf("%g %%", noise),
					}, of.shares()...)...)
				}
				of.hold(made, "%s at %g %%", name, noise)
				of.said /= float64(len(noises))
				of.missed /= float64(len(noises))
				of.far /= float64(len(noises))
				all.add(of)
			}
			made.row(append([]string{name}, all.shares()...)...)
			said := all.said * float64(len(noises)**replicates)
			made.holdAmong("trustworthy ones miss, over all noises", all.missed/all.said, said, .06, "%s", name)
		}
	}
}

// TestTrustDisturbed is the same where something befalls the runs.
func TestTrustDisturbed(t *testing.T) {
	made := simulated(t, "trust disturbed", append([]string{"two configurations, six blocks, at 1 %"},
		trustHead...)...)
	for _, why := range levelsOf(t, "trust disturbed", "disturbance") {
		random := randomOf("trust disturbed " + why)
		of := trustOf(shares(func() []bool {
			said, missed, far := compared(random, 1, 2, 6, why)
			return []bool{said, said && missed, said && far}
		}))
		made.row(append([]string{why}, of.shares()...)...)
		of.hold(made, "%s", why)
	}
}

// TestTrustBenches is of the mean of a bench.
func TestTrustBenches(t *testing.T) {
	made := simulated(t, "trust benches", append([]string{"a bench of", "noise from run to run"},
		trustHead...)...)
	noises := numbersOf(t, "trust benches", "noise")
	for _, runs := range numbersOf(t, "trust benches", "benches") {
		random := randomOf(fmt.Sprint("trust benches", runs))
		var all trusted
		for _, noise := range noises {
			of := trustOf(shares(func() []bool {
				quiet := disturbances["no disturbance"](random)
				b := benchesOf(random, noise, 1, int(runs), quiet)[0]
				said := result.WorstEffect(b.Findings) == result.Informs
				missed := math.Abs(*b.RunsMean-50_000) > *b.RunsCI95
				return []bool{said, said && missed, said && math.Abs(*b.RunsMean/50_000-1) > .05}
			}))
			made.row(append([]string{fmt.Sprintf("%g", runs), fmt.Sprintf("%g %%", noise)}, of.shares()...)...)
			of.hold(made, "a bench of %g at %g %%", runs, noise)
			all.add(of)
		}
		all.said /= float64(len(noises))
		all.missed /= float64(len(noises))
		all.far /= float64(len(noises))
		made.row(append([]string{fmt.Sprintf("%g", runs), "all of these, as often"}, all.shares()...)...)
	}
}

// TestTrustRules has other rules call the same experiments trustworthy: two configurations, six
// blocks.
func TestTrustRules(t *testing.T) {
	made := simulated(t, "trust rules", "trustworthy is", "said at 1 % noise", "at 2 %", "at 3 %",
		"at 5 %", "at all noises: of the trustworthy an interval misses the truth",
		"the most at a noise where it is said in .1 or more",
		"of the trustworthy more than 5 % from the truth")
	const blocks = 6
	const freedom = blocks - 2 // the drift takes one
	factor := func(sure float64) float64 {
		return math.Sqrt(freedom / distuv.ChiSquared{K: freedom}.Quantile(1-sure))
	}
	rules := []struct {
		name    string
		trusted func(half, least float64, byDs2 bool) bool // in percent
	}{
		{
			"ds2: an interval of at most ± 5 %, and those of both results, which may be narrow by luck",
			func(half, _ float64, byDs2 bool) bool { return byDs2 },
		},
		{"an interval of at most ± 5 %", func(half, _ float64, _ bool) bool { return half <= 5 }},
		{
			"the same, with the upper 80 % limit of its variation",
			func(half, _ float64, _ bool) bool { return half*factor(.8) <= 5 },
		},
		{
			"with the upper 90 % limit, as before",
			func(half, _ float64, _ bool) bool { return half*factor(.9) <= 5 },
		},
		{
			"with the upper 95 % limit",
			func(half, _ float64, _ bool) bool { return half*factor(.95) <= 5 },
		},
		{"an interval of 97.5 % of at most ± 5 %", func(half, _ float64, _ bool) bool {
			return half*measure.Student(.9875, freedom)/measure.Student(.975, freedom) <= 5
		}},
		{
			"an interval of at most ± 5 %, also if runs vary by no less than within, by half of their variance",
			func(half, least float64, _ bool) bool { return max(half, least) <= 5 },
		},
	}
	all := make([]trusted, len(rules))
	most := make([]float64, len(rules))
	rows := make([][]string, len(rules))
	noises := numbersOf(t, "trust", "noise")
	random := randomOf("trust rules")
	for _, noise := range noises {
		each := shares(func() (happened []bool) {
			quiet := disturbances["no disturbance"](random)
			c := compare.WithFirst(benchesOf(random, noise, 2, blocks, quiet))
			d := c.Differences[0]
			half := max(*d.High-d.Percent, d.Percent-*d.Low) / (1 + d.Percent/100)
			least := measure.Student(.975, freedom) * noise * math.Sqrt(2./blocks/2)
			for _, rule := range rules {
				said := rule.trusted(half, least, result.WorstEffect(c.Findings) == result.Informs)
				happened = append(happened, said, said && *d.Significant, said && math.Abs(d.Percent) > 5)
			}
			return happened
		})
		for i := range rules {
			of := trustOf(each[3*i:])
			all[i].add(of)
			if i == 0 && noise >= 3 {
				made.hold("noisy experiments are trustworthy", of.said, .25, "%g %%", noise)
			}
			if of.said >= .1 {
				most[i] = max(most[i], of.missed/of.said)
			}
			if slices.Contains([]float64{1, 2, 3, 5}, noise) {
				rows[i] = append(rows[i], share(of.said))
			}
		}
	}
	for i, rule := range rules {
		said := all[i].said * float64(*replicates)
		missed := all[i].missed / all[i].said
		if i == 0 {
			made.holdAmong("of ds2's trustworthy an interval misses the truth", missed, said, .06, "all noises")
		} else {
			made.holdAmong("of others' none misses it", 1-missed, said, .95, "%s", rule.name)
		}
		row := append([]string{rule.name}, rows[i]...)
		made.row(append(row, share(all[i].missed/all[i].said), share(most[i]), share(all[i].far/all[i].said))...)
	}
}

// TestLuck is of any rule that calls an experiment trustworthy where its runs vary little enough:
// the seldomer it can say so, the more of what it says is luck.
func TestLuck(t *testing.T) {
	said := []float64{1, .5, .1, .01, .001}
	head := []string{"blocks"}
	for _, s := range said {
		head = append(head, "said in "+share(s))
	}
	table := simulated(t, "luck", head...)
	for _, blocks := range numbersOf(t, "trust", "blocks") {
		random := randomOf(fmt.Sprint("luck", blocks))
		freedom := blocks - 2
		type made struct {
			spread float64 // estimated, as a share of what it is
			missed bool
		}
		var all []made
		for range 100 * *replicates {
			squares := 0.
			for range int(freedom) {
				v := random.NormFloat64()
				squares += v * v
			}
			spread := math.Sqrt(squares / freedom)
			off := math.Abs(random.NormFloat64())
			all = append(all, made{spread, off > measure.Student(.975, freedom)*spread})
		}
		slices.SortFunc(all, func(a, b made) int { return cmp.Compare(a.spread, b.spread) })
		row := []string{fmt.Sprintf("%g", blocks)}
		for _, s := range said {
			least := int(s * float64(len(all)))
			missed := 0.
			for _, e := range all[:least] {
				if e.missed {
					missed += 1 / float64(least)
				}
			}
			row = append(row, share(missed))
			n := float64(least)
			lucky := missesOfLucky(s, freedom)
			table.holdAmong("more miss than by chance", missed, n, lucky, "%g blocks, %g", blocks, s)
			table.holdAmong("fewer miss", 1-missed, n, 1-lucky, "%g blocks, %g", blocks, s)
		}
		table.row(row...)
	}
}

// missesOfLucky is how often 95 % intervals miss of those that are narrowest, as many as are said,
// where the spread of normal runs says nothing of their mean: the mean of Student's misses over the
// spreads that are found so often.
func missesOfLucky(said, freedom float64) (misses float64) {
	const steps = 500
	factor := distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(.975)
	for i := range steps {
		squares := distuv.ChiSquared{K: freedom}.Quantile(said * (float64(i) + .5) / steps)
		misses += 2 * distuv.UnitNormal.CDF(-factor*math.Sqrt(squares/freedom)) / steps
	}
	return misses
}

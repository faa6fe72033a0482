package measure

import (
	"math"

	"github.com/aclements/go-moremath/mathx"
	"github.com/aclements/go-moremath/stats"
)

// Rate is how often something happened, such as an error, and of how many chances.
type Rate struct{ Count, Of float64 }

// SumRates is that of all.
func SumRates(all []Rate) (total Rate) {
	for _, r := range all {
		total.Count, total.Of = total.Count+r.Count, total.Of+r.Of
	}
	return total
}

// CompareCounts compares the rate of b with that of a, each counted in two runs or more, by the conditional binomial
// test: given how many there are in both, those of b are binomial (J. Przyborowski and H. Wilenski, "Homogeneity of
// Results in Testing Samples from Poisson Series", Biometrika 31, 1940), with the bounds of Clopper and Pearson. So it
// sees a rise from none. Where runs of one differ by more than chance, counts are divided by their dispersion
// (quasi-Poisson; P. McCullagh and J. A. Nelder, Generalized Linear Models, 1989, section 4.5), which was estimated, so
// that Student's t stands in for the normal distribution.
func CompareCounts(a, b []Rate) Change {
	before, after := SumRates(a), SumRates(b)
	c := Unknown()
	if len(a) < 2 || len(b) < 2 || before.Count+after.Count == 0 || before.Of == 0 || after.Of == 0 {
		return c
	}
	dispersion, freedom := dispersionOf(a, b)
	x, y := before.Count/dispersion, after.Count/dispersion
	tail := 0.025
	if dispersion > 1 {
		tail = stats.StdNormal.CDF(-Student(.975, freedom))
	}
	odds := before.Of / after.Of // of b's share of the counts, where the rates are alike: 1/odds
	percent := func(share float64) float64 { return 100 * (share/(1-share)*odds - 1) }
	low, high := ClopperPearson(y, x+y, tail)
	c.Percent, c.Low, c.High = percent(y/(x+y)), percent(low), percent(high)
	even := 1 / (1 + odds)
	less := min(1, 1-atLeast(y+1, x+y, even), atLeast(y, x+y, even))
	c.P = 2 * less
	if dispersion > 1 && less > 0 {
		c.P = 2 * stats.TDist{V: freedom}.CDF(stats.InvCDF(stats.StdNormal)(less))
	}
	c.P = min(1, c.P)
	return c
}

// dispersionOf is by how many times the counts of runs vary as much as chance, at least 1, by Pearson's statistic; and
// with how many degrees of freedom that is known. Runs of none say nothing of it.
func dispersionOf(groups ...[]Rate) (dispersion, freedom float64) {
	squares := 0.
	for _, runs := range groups {
		total := SumRates(runs)
		if total.Count == 0 {
			continue
		}
		freedom += float64(len(runs) - 1)
		for _, r := range runs {
			if expected := total.Count / total.Of * r.Of; expected > 0 {
				squares += (r.Count - expected) * (r.Count - expected) / expected
			}
		}
	}
	return max(1, squares/freedom), freedom
}

// ClopperPearson gives the bounds of the probability of what came about in k of n tries, each of which is passed with
// probability tail (The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika 26,
// 1934).
func ClopperPearson(k, n, tail float64) (from, to float64) {
	to = 1
	if k > 0 {
		from = solve(func(p float64) bool { return atLeast(k, n, p) > tail })
	}
	if k < n {
		to = solve(func(p float64) bool { return 1-atLeast(k+1, n, p) < tail })
	}
	return from, to
}

// solve gives the p from which on f is true.
func solve(f func(p float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 60 {
		if p := (low + high) / 2; f(p) {
			high = p
		} else {
			low = p
		}
	}
	return high
}

// atLeast is the probability of k or more of n, each of probability p.
func atLeast(k, n, p float64) float64 {
	if k <= 0 {
		return 1
	}
	if k > n {
		return 0
	}
	return mathx.BetaInc(p, k, n-k+1)
}

// Unknown is a change of which nothing is known.
func Unknown() Change {
	nan := math.NaN()
	return Change{Percent: nan, Low: nan, High: nan, P: nan}
}

package measure

import (
	"cmp"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// Correlation is Pearson's of pairs, and the two-sided probability of one at least as strong if there is none, by Student's
// t; NaN where either has no scatter, or there are fewer than three pairs.
func Correlation(xs, ys []float64) (r, p float64) {
	if len(xs) < 3 {
		return math.NaN(), math.NaN()
	}
	meanX, meanY := stats.Mean(xs), stats.Mean(ys)
	var xy, xx, yy float64
	for i := range xs {
		x, y := xs[i]-meanX, ys[i]-meanY
		xy, xx, yy = xy+x*y, xx+x*x, yy+y*y
	}
	if xx == 0 || yy == 0 {
		return math.NaN(), math.NaN()
	}
	r = max(-1, min(1, xy/math.Sqrt(xx*yy)))
	degrees := float64(len(xs) - 2)
	t := math.Abs(r) * math.Sqrt(degrees/(1-r*r)) // +Inf for pairs on a line
	return r, 2 * (1 - stats.TDist{V: degrees}.CDF(t))
}

// Holm corrects probabilities for their number by Holm's method: that any of them is below a level by chance alone is no likelier
// than that level. Those that are NaN were not tested, and stay NaN.
func Holm(ps []float64) []float64 {
	corrected := slices.Clone(ps)
	var order []int
	for i, p := range ps {
		if !math.IsNaN(p) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	least := 0.0 // one that is less likely by chance cannot be corrected to more
	for rank, i := range order {
		least = max(least, min(1, ps[i]*float64(len(order)-rank)))
		corrected[i] = least
	}
	return corrected
}

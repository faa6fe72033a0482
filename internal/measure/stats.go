package measure

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Median is the middle of values, of which there is at least one; the mean of the two in the middle
// where their number is even.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Slope is by how much values change from one to the next, by least squares; those that are not
// numbers count for the distance only. n is how many numbers there are; of fewer than two the slope
// is 0.
func Slope(values []float64) (slope float64, n int) {
	var at, known []float64
	for i, v := range values {
		if !math.IsNaN(v) {
			at = append(at, float64(i))
			known = append(known, v)
		}
	}
	if len(known) < 2 {
		return 0, len(known)
	}
	_, slope = stat.LinearRegression(at, known, nil, false)
	return slope, len(known)
}

// Student is the quantile p of Student's t, and NaN without degrees of freedom, which gonum does
// not take.
func Student(p, degrees float64) float64 {
	if !(degrees > 0) {
		return math.NaN()
	}
	return distuv.StudentsT{Sigma: 1, Nu: degrees}.Quantile(p)
}

// twoSided is the probability of a value of Student's t at least as far from 0, and NaN where that
// is unknown.
func twoSided(t, degrees float64) float64 {
	if math.IsNaN(t) || !(degrees > 0) {
		return math.NaN()
	}
	return 2 * distuv.StudentsT{Sigma: 1, Nu: degrees}.CDF(-math.Abs(t))
}

// Significance words a probability together with the level that it was held against: "p = 0.0104,
// not significant at 0.01". It has two digits, or as many as it takes to be seen on the right side
// of the level.
func Significance(p, level float64) string {
	const smallest = 1e-15 // what the sums behind p can tell from 0
	if p < smallest && p < level {
		return fmt.Sprintf("p < %g, significant at %g", smallest, level)
	}
	text := ""
	for digits := 2; digits < 17; digits++ {
		text = strconv.FormatFloat(p, 'g', digits, 64)
		if shown, _ := strconv.ParseFloat(text, 64); (shown < level) == (p < level) {
			break
		}
	}
	if p < level {
		return fmt.Sprintf("p = %s, significant at %g", text, level)
	}
	return fmt.Sprintf("p = %s, not significant at %g", text, level)
}

// Correlation is Pearson's of pairs, and the two-sided probability of one at least as strong if
// there is none, by Student's t; NaN where either has no variance, or there are fewer than three
// pairs.
func Correlation(xs, ys []float64) (r, p float64) {
	if len(xs) < 3 {
		return math.NaN(), math.NaN()
	}
	// Rounding may take the sum a little past 1.
	r = max(-1, min(1, stat.Correlation(xs, ys, nil)))
	degrees := float64(len(xs) - 2)
	return r, twoSided(r*math.Sqrt(degrees/(1-r*r)), degrees) // t is infinite for pairs on a line
}

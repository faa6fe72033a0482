package measure

import (
	"encoding/json"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Change is by how much one set of measurements differs from another.
type Change struct {
	Percent float64 // of the geometric means: 100 (b/a − 1)
	// Low and High are the bounds of the 95 % confidence interval of Percent, and P is the
	// probability of a difference at least as large if there is none. All are NaN (null in JSON)
	// where there are too few measurements to know their variation.
	Low, High, P float64

	by    estimate
	looks float64
}

// newChange is that of an estimate that was looked at that many times as often as a single test:
// the levels of its interval and of P are tightened by that.
func newChange(e estimate, looks float64) Change {
	half := e.deviation * e.stated.critical(0.05/looks, e.freedom)
	low := percentOf(e.logarithm - half)
	high := percentOf(e.logarithm + half)
	c := Change{percentOf(e.logarithm), low, high, 1, e, looks}
	if e.logarithm != 0 {
		c.P = min(1, looks*e.stated.chance(e.logarithm/e.deviation, e.freedom))
	}
	return c
}

// Widened is the change where both sides have an error besides, such as Shared, that is not among
// what its interval was estimated from; deviation is that of the logarithm of the ratio.
func (c Change) Widened(deviation float64) Change {
	if deviation == 0 || math.IsNaN(c.Low) {
		return c
	}
	c.by.deviation = math.Hypot(c.by.deviation, deviation)
	return newChange(c.by, c.looks)
}

// percentOf is a difference of logarithms as one in percent: their ratio less 1.
func percentOf(logarithm float64) float64 { return 100 * math.Expm1(logarithm) }

// Significant says whether the confidence interval excludes no difference.
func (c Change) Significant() bool { return c.Low > 0 || c.High < 0 }

// Within says whether the confidence interval is known and reaches at most that many percent points
// from the estimate.
func (c Change) Within(percent float64) bool {
	return c.High-c.Percent <= percent && c.Percent-c.Low <= percent
}

// changeJSON is Change in JSON, which has no NaN.
type changeJSON struct {
	Percent *float64 `json:"pct"`
	Low     *float64 `json:"low_pct"`
	High    *float64 `json:"high_pct"`
	P       *float64 `json:"p"`
}

// MarshalJSON writes null for what is NaN.
func (c Change) MarshalJSON() ([]byte, error) {
	return json.Marshal(changeJSON{Known(c.Percent), Known(c.Low), Known(c.High), Known(c.P)})
}

// Known is a figure for a record, where unknown is absent and no number: nil of NaN and, as of an
// interval whose variation has no degree of freedom, of an infinite one.
func Known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// UnmarshalJSON reads NaN for null.
func (c *Change) UnmarshalJSON(text []byte) error {
	*c = Unknown() // as null leaves it
	return json.Unmarshal(text, &changeJSON{&c.Percent, &c.Low, &c.High, &c.P})
}

// MeanCI95 gives the mean of values and half the width of its 95 % confidence interval by Student's
// t; of a single value it has none and is NaN.
func MeanCI95(values []float64) (mean, half float64) {
	mean, variance := stat.MeanVariance(values, nil)
	n := float64(len(values))
	return mean, Student(.975, n-1) * math.Sqrt(variance/n)
}

// mostOfHalf is how sure it is that an interval would not be wider if the variation were known.
const mostOfHalf = 0.9

// Widest is the half width that an interval by Student's t would have if the variation were as
// large as it may be, at 90 %: of many experiments the narrow intervals are those of runs that vary
// little by chance.
func Widest(half, freedom float64) float64 {
	if !(freedom > 0) {
		return math.NaN()
	}
	return half * math.Sqrt(freedom/distuv.ChiSquared{K: freedom}.Quantile(1-mostOfHalf))
}

// Compare compares positive measurements b with a. It is Welch's t-test (B. L. Welch, "The
// Generalization of 'Student's' Problem when Several Different Population Variances are Involved",
// Biometrika 34, 1947) on their logarithms, so that the interval is one of the ratio: differences
// between computers are factors. The interval holds for all that is stated together.
func Compare(a, b []float64, stated Family) Change {
	c := Unknown()
	if !positive(a) || !positive(b) {
		return c
	}
	la := logarithms(a)
	lb := logarithms(b)
	meanA, varianceA := stat.MeanVariance(la, nil)
	meanB, varianceB := stat.MeanVariance(lb, nil)
	c.Percent = percentOf(meanB - meanA)
	if len(a) < 2 || len(b) < 2 {
		return c
	}
	ofA := varianceA / float64(len(a))
	ofB := varianceB / float64(len(b))
	if ofA+ofB == 0 { // all measurements of both are the same
		return c
	}
	// Welch's and Satterthwaite's degrees of freedom: about those of the side that varies more.
	freedom := (ofA + ofB) * (ofA + ofB) / (ofA*ofA/float64(len(a)-1) + ofB*ofB/float64(len(b)-1))
	return newChange(estimate{meanB - meanA, math.Sqrt(ofA + ofB), freedom, stated.apart()}, 1)
}

// positive says whether there are measurements, all of which have a logarithm.
func positive(values []float64) bool {
	return len(values) > 0 && !slices.ContainsFunc(values, func(v float64) bool { return !(v > 0) })
}

// GeometricMean is that of values, none of which is negative; 0 where any is 0.
func GeometricMean(values []float64) float64 {
	if !positive(values) {
		return 0
	}
	return stat.GeometricMean(values, nil)
}

// logarithms are those of measurements, all of which are positive.
func logarithms(values []float64) []float64 {
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	return logs
}

// power is the share of experiments that find what Smallest says.
const power = 0.8

// Smallest is the smallest difference from the first configuration, in percent, that an experiment
// of n blocks finds in 8 of 10 cases where all its runs vary by that percentage.
func Smallest(variation float64, configurations, blocks int, until bool) float64 {
	n := float64(blocks)
	// In each block two runs are compared, so a difference varies by twice the variance of one.
	// Randomized blocks leave (n − 1)(k − 1) degrees of freedom, of which the drift takes one.
	deviation := math.Sqrt(2/n) * math.Log1p(variation/100)
	freedom := (n-1)*float64(configurations-1) - 1
	if blocks%2 == 1 { // the last block is not made up for by one backwards
		deviation *= math.Sqrt(1 + 1/(n*n-1))
	}
	critical := WithFirst(configurations).critical(0.05/looksOf(until), freedom)
	return percentOf(deviation * (critical + Student(power, freedom)))
}

// Unknown is a change of which nothing is known.
func Unknown() Change {
	nan := math.NaN()
	return Change{Percent: nan, Low: nan, High: nan, P: nan}
}

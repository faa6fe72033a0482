package measure

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Trend is how OPM changed over a window: what shows a store that slows down over hours, too slowly for Steadiness. The
// test is Mann's and Kendall's (M. G. Kendall, Rank Correlation Methods, 1975), and the size of the trend is the median
// of the slopes between all pairs of points (P. K. Sen, "Estimates of the Regression Coefficient Based on Kendall's
// Tau", Journal of the American Statistical Association 63, 1968). Both bear outliers such as checkpoints. Neighbouring
// seconds resemble each other, which the test must not take for a trend, so the points are the batch means that the
// confidence interval is made of.
type Trend struct {
	Percent float64 `json:"pct"` // change over the window, in percent of its OPM
	P       float64 `json:"p"`   // how likely a series without a trend shows at least this one
	Found   bool    `json:"found"`
	Why     string  `json:"why"` // the finding in words, to be read after those of Steadiness
}

// trendLevel is the P below which there is a trend.
const trendLevel = 0.01

// trend looks for one in the samples of a window that is judged so; nil where they are too few for batches. Steadiness
// asks whether a drift is large, whatever its reason, and the trend whether it is more than chance, however small. A drift
// too large for Steadiness is never excused by a test that finds no trend.
func trend(samples []Sample, s Steadiness) *Trend {
	k := batches(samples)
	if k == 0 {
		return nil
	}
	rates := batchRates(samples, k)
	mean, _ := meanAndDeviation(rates)
	if mean == 0 {
		return nil
	}
	t := Trend{Percent: 100 * senSlope(rates) * float64(k-1) / mean, P: mannKendall(rates)}
	t.Found = t.P < trendLevel
	switch {
	case t.Found:
		t.Why = fmt.Sprintf("OPM has a trend of %+.1f %% over the window (Sen's slope; Mann-Kendall %s)", t.Percent, Significance(t.P, trendLevel))
	case s.drifts():
		t.Why = fmt.Sprintf("whether the drift goes on cannot be said from this window (Mann-Kendall %s)", Significance(t.P, trendLevel))
	default:
		t.Why = fmt.Sprintf("no trend in OPM was found (Mann-Kendall %s)", Significance(t.P, trendLevel))
	}
	return &t
}

// Significance words a probability together with the level that it was held against: "p = 0.0104, not significant at
// 0.01". It has two digits, or as many as it takes to be seen on the right side of the level.
func Significance(p, level float64) string {
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

// senSlope is the median of the slopes between all pairs of values.
func senSlope(values []float64) float64 {
	var slopes []float64
	for i, v := range values {
		for j := i + 1; j < len(values); j++ {
			slopes = append(slopes, (values[j]-v)/float64(j-i))
		}
	}
	slices.Sort(slopes)
	n := len(slopes)
	return (slopes[(n-1)/2] + slopes[n/2]) / 2
}

// mannKendall is the two-sided probability that values without a trend have at least as many pairs in one order more
// than in the other, by the normal approximation with continuity correction, good from ten values on.
func mannKendall(values []float64) float64 {
	score := 0.0
	ties := map[float64]float64{}
	for i, v := range values {
		ties[v]++
		for _, later := range values[i+1:] {
			switch {
			case later > v:
				score++
			case later < v:
				score--
			}
		}
	}
	n := float64(len(values))
	variance := n * (n - 1) * (2*n + 5)
	for _, t := range ties {
		variance -= t * (t - 1) * (2*t + 5)
	}
	if variance == 0 {
		return 1 // all values are the same
	}
	z := max(0, math.Abs(score)-1) / math.Sqrt(variance/18)
	return math.Erfc(z / math.Sqrt2)
}

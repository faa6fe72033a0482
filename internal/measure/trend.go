package measure

import (
	"fmt"
	"math"
)

// Trend is how OPM changed over a window: what shows a store that slows down over hours, too slowly
// for Steadiness. It is the line of least squares through the window, and Student's test whether
// its slope differs from 0, with the variation of the whole run about its own line by overlapping
// batch means: neighbouring seconds resemble each other, which must not pass for a trend.
type Trend struct {
	Percent float64 `json:"pct"` // change over the window, in percent of its OPM
	// probability that a series without a trend shows at least this one
	P     float64 `json:"p"`
	Level float64 `json:"level"` // Found is P < Level
	Found bool    `json:"found"`
	Why   string  `json:"why"` // the finding in words, to be read after those of Steadiness
}

// trendLevel is the P below which there is a trend.
const trendLevel = 0.01

// trend looks for one in the samples of a window that is judged so; nil where the run is too short
// to tell. Steadiness asks whether a drift is large, whatever its reason, and the trend whether it
// is more than chance, however small. A drift too large for Steadiness is never excused by a test
// that finds no trend.
func (s Series) trend(window []Sample, judged Steadiness) *Trend {
	all, _ := ordersOf(window)
	if all == 0 {
		return nil
	}
	orders := float64(all)
	n := float64(len(window))
	stretch := lessMean(s.stretch(window))
	drift, _ := Slope(stretch)
	middle := float64(len(stretch)-1) / 2
	for i := range stretch {
		stretch[i] -= drift * (float64(i) - middle)
	}
	e, err := newBatchMeans(stretch, len(window), theLine)
	if err != nil {
		return nil
	}
	rise, _ := Slope(lessMean(window)) // orders a sample, from one sample to the next
	t := Trend{Percent: 100 * rise * n * n / orders, P: 1, Level: trendLevel}
	// The correction for memory is itself estimated, and worse than it is large: the third power is
	// by simulation (docs/evidence/2026-11-simulations.md).
	freedom := max(1, e.freedom/math.Pow(e.correction, 3))
	// The slope of least squares through n values that vary by v varies by 12 v / (n (n² − 1)).
	if deviation := math.Sqrt(12 * e.variance / (n * (n*n - 1))); rise != 0 {
		t.P = twoSided(rise/deviation, freedom)
	}
	t.Found = t.P < trendLevel
	switch {
	case t.Found:
		t.Why = fmt.Sprintf("the rate has a trend of %+.1f %% over the window", t.Percent)
	case judged.Drifts():
		t.Why = "this window does not show whether the drift continues"
	default:
		t.Why = "no trend in the rate was found"
	}
	t.Why += " (" + Significance(t.P, trendLevel) + ")"
	return &t
}

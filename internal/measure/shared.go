package measure

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// sharedLevel is below which probability runs do not vary as little as they do by chance.
const sharedLevel = 0.01

// Shared is the standard deviation of what runs may have in common that none of their differences
// shows: where they vary less from one to the next than each varies by itself (χ², at .01), they
// have met the same part of something, such as a cycle of checkpoints or a cache that fills. It is
// that of one run; 0 where the runs vary as runs do, or the half widths of their 95 % intervals are
// not all known.
func Shared(values []float64, halves []*float64) float64 {
	if len(values) < 2 || slices.Contains(halves, nil) {
		return 0
	}
	// The mean of what each run varies by itself, by its own interval.
	within := 0.
	for _, half := range halves {
		deviation := *half / normal95
		within += deviation * deviation / float64(len(halves))
	}
	freedom := float64(len(values) - 1)
	between := stat.Variance(values, nil)
	if chi := (distuv.ChiSquared{K: freedom}); !(chi.CDF(freedom*between/within) < sharedLevel) {
		return 0
	}
	return math.Sqrt(within)
}

// normal95 is half the width of an interval in standard deviations that are known.
const normal95 = 1.96

// SharedTrend is the mean of the trends of runs where it is more than chance, by Student's t over
// the runs at .01; else 0. Of one run alone a trend is seldom sure.
func SharedTrend(trends []float64) float64 {
	if len(trends) < 2 {
		return 0
	}
	mean, variance := stat.MeanVariance(trends, nil)
	freedom := float64(len(trends) - 1)
	if !(twoSided(mean/math.Sqrt(variance/(freedom+1)), freedom) < sharedLevel) {
		return 0
	}
	return math.Abs(mean)
}

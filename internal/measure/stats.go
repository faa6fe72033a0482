package measure

import (
	"math"
	"time"

	"github.com/aclements/go-moremath/stats"
)

// batchMeansCI95 is half the width of the 95 % confidence interval of the samples' OPM. Neighbouring seconds resemble
// each other, so they are put into batches long enough to be independent, and the batches' means are what Student's t
// is applied to: 20 batches where they are 10 s or longer, else 10, as B. Schmeiser advises ("Batch Size Effects in the
// Analysis of Simulation Output", Operations Research 30(3), 1982: between 10 and 30). Fewer than 20 samples give none.
func batchMeansCI95(samples []Sample) (half float64, ok bool) {
	k := batches(samples)
	if k == 0 {
		return 0, false
	}
	rates := batchRates(samples, k)
	mean, sd := meanAndDeviation(rates)
	if mean == 0 {
		return 0, false
	}
	return student975(k-1) * sd / math.Sqrt(float64(k)), true
}

// batches is how many batches samples are put into; 0 where they are too few.
func batches(samples []Sample) int {
	switch n := len(samples); {
	case n >= 200:
		return 20
	case n >= 20:
		return 10
	default:
		return 0
	}
}

// student975 is the 97.5 % quantile of Student's t.
func student975(degrees int) float64 { return stats.InvCDF(stats.TDist{V: float64(degrees)})(0.975) }

// batchRates is the OPM of k batches of as nearly equal length as the samples allow.
func batchRates(samples []Sample, k int) []float64 {
	rates := make([]float64, k)
	for i := range rates {
		var orders int64
		var length time.Duration
		for _, s := range samples[i*len(samples)/k : (i+1)*len(samples)/k] {
			orders += s.Counts.Orders
			length += s.Length
		}
		rates[i] = perMinute(orders, length)
	}
	return rates
}

// meanAndDeviation gives the mean and the sample standard deviation; values has at least two.
func meanAndDeviation(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	var squares float64
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(squares / float64(len(values)-1))
}

// slope is the least-squares change of values from one to the next.
func slope(values []float64) float64 {
	mean, _ := meanAndDeviation(values)
	middle := float64(len(values)-1) / 2
	var xy, xx float64
	for i, v := range values {
		x := float64(i) - middle
		xy += x * (v - mean)
		xx += x * x
	}
	return xy / xx
}

package measure

import (
	"math"
	"slices"
	"time"
)

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
		rates[i] = OrdersPerMinute(orders, length)
	}
	return rates
}

// Median is the middle of values, of which there is at least one; the mean of the two in the middle where their number is even.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
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

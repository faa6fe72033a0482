package measure

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// batchMeans estimates how far the orders of a span vary about their long-run mean when
// neighbouring seconds resemble each other: overlapping batch means (M. S. Meketon and B.
// Schmeiser, "Overlapping Batch Means: Something for Nothing?", Proceedings of the 1984 Winter
// Simulation Conference), whose estimate has about 1.5 (n/b − 1) degrees of freedom with batches of
// b of n samples.
//
// A batch that is not much longer than the memory of the series makes the estimate too small. By
// how much is known for an autoregressive series of first order, so the estimate is corrected as if
// the sums over fiftieths of the series were one, with the lag-one autocorrelation that they have,
// as N-Skart does between its batches (A. Tafazzoli, N. M. Steiger and J. R. Wilson, "N-Skart: A
// Nonsequential Skewness- and Autoregression-Adjusted Batch-Means Procedure for Simulation
// Analysis", IEEE Transactions on Automatic Control 56(2), 2011). In single samples the noise of
// counting hides a slow wander.
//
// Rare large deviations, such as stalls, make the estimate itself vary: it has as many degrees of
// freedom as its own variance says, which grows with the excess of the fiftieths' fourth moment (B.
// O'Neill, "Some Useful Moment Results in Sampling Problems", The American Statistician 68(4),
// 2014).
type batchMeans struct {
	variance float64 // of the orders of a span, a sample of the span
	freedom  float64 // degrees of freedom
	// correction is the factor by which variance was raised for the memory of the series.
	correction float64
	// why it rests on few independent samples, so more on the correction; empty where it does not
	few string
}

const (
	minSamples    = 50  // of a series that is estimated from
	minBatches    = 6   // of a series, non-overlapping
	maxCorrection = 1.5 // of one that has enough independent samples
	fewestFreedom = 4.5 // of one that has: that of four batches
)

// fit is what was taken off a series before its residuals are looked at, and takes variation from
// them.
type fit int

const (
	theMean fit = iota + 1
	theLine     // of least squares
)

// newBatchMeans estimates from the residuals of a stretch of samples how the orders of a span of n
// samples vary. The batches are as long as the span, so that the estimate is of how much such spans
// differ, whatever the reason, unless the stretch has too few of them.
func newBatchMeans(residuals []float64, span int, f fit) (batchMeans, error) {
	n := len(residuals)
	batch := min(span, n/minBatches)
	if n < minSamples {
		const format = "too short for a confidence interval: %d samples, and it takes %d"
		return batchMeans{}, fmt.Errorf(format, n, minSamples)
	}
	share := float64(batch) / float64(n)
	lost := share // of the variance of a batch, because the mean of all was taken off
	if f == theLine {
		lost += share * (1 - share) * (1 - share)
	}
	// The sums over all overlapping batches, each from the one before it.
	sum := 0.0
	squares := 0.0
	for i, v := range residuals {
		sum += v
		if i >= batch {
			sum -= residuals[i-batch]
		}
		if i >= batch-1 {
			squares += sum * sum
		}
	}
	small := n / minSamples
	parts := sums(residuals, small)
	phi := lagOne(parts, f)
	of := func(samples int) float64 { return inflation(phi, float64(samples)/float64(small)) }
	// How many times as much batches vary as they would without memory, less what the fit took; the
	// correction brings that of the batches to that of spans.
	expected := (of(batch) - lost*of(n)) / (1 - lost)
	e := batchMeans{
		correction: max(1, of(span)/expected),
		freedom:    2 / (2/(1.5*(1/share-1)) + excess(parts)/float64(len(parts))),
	}
	e.variance = squares / float64(batch) / float64(n-batch+1) / (1 - lost) * e.correction
	if e.correction > maxCorrection {
		e.few = fmt.Sprintf(
			"few independent samples: neighbouring ones are so alike that %d tell no more than "+
				"%.0f independent ones", n, float64(n)/float64(small)/of(n))
	}
	return e, nil
}

// sums are those of n neighbours each; what is left at the end is left out.
func sums(values []float64, size int) []float64 {
	all := make([]float64, len(values)/size)
	for i := range all {
		all[i] = floats.Sum(values[i*size : (i+1)*size])
	}
	return all
}

// excess is by how much the kurtosis of residuals is above that of a normal distribution, and not
// below 0.
func excess(residuals []float64) float64 {
	variance := stat.MomentAbout(2, residuals, 0, nil)
	if variance == 0 {
		return 0
	}
	return max(0, stat.MomentAbout(4, residuals, 0, nil)/(variance*variance)-3)
}

// lagOne is the autocorrelation of neighbouring residuals, without the bias that taking off the
// mean or the line brings (F. H. C. Marriott and J. A. Pope, "Bias in the Estimation of
// Autocorrelations", Biometrika 41, 1954), and not below 0.
func lagOne(residuals []float64, f fit) float64 {
	squares := floats.Dot(residuals, residuals)
	if squares == 0 {
		return 0
	}
	products := floats.Dot(residuals[1:], residuals[:len(residuals)-1])
	n := float64(len(residuals))
	p := float64(f)
	return min(max((n*products/squares+p)/(n-3-p), 0), 0.99)
}

// inflation is how many times as much the sum of n neighbouring samples of an autoregressive series
// varies as that of n independent ones.
func inflation(phi, n float64) float64 {
	return (1 + phi) / (1 - phi) * (1 - 2*phi*(1-math.Pow(phi, n))/(n*(1-phi*phi)))
}

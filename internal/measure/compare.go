package measure

import (
	"math"

	"github.com/aclements/go-moremath/stats"
)

// MeanCI95 gives the mean of values and half the width of its 95 % confidence interval by Student's t; of a single value
// it has none and is NaN.
func MeanCI95(values []float64) (mean, half float64) {
	if len(values) == 1 {
		return values[0], math.NaN()
	}
	mean, deviation := meanAndDeviation(values)
	return mean, student975(float64(len(values)-1)) * deviation / math.Sqrt(float64(len(values)))
}

// Compare compares positive measurements b with a. It is Welch's t-test (B. L. Welch, "The Generalization of 'Student's'
// Problem when Several Different Population Variances are Involved", Biometrika 34, 1947) on their logarithms, so that
// the interval is one of the ratio: differences between computers are factors.
func Compare(a, b []float64) Change {
	la, lb := logarithms(a), logarithms(b)
	meanA, meanB := stats.Mean(la), stats.Mean(lb)
	c := Unknown()
	c.Percent = percentOf(meanB - meanA)
	if len(a) < 2 || len(b) < 2 {
		return c
	}
	test, err := stats.TwoSampleWelchTTest(stats.Sample{Xs: lb}, stats.Sample{Xs: la}, stats.LocationDiffers)
	if err != nil { // all measurements of both are the same
		return c
	}
	return newChange(meanB-meanA, math.Sqrt(stats.Variance(la)/float64(len(a))+stats.Variance(lb)/float64(len(b))), test.DoF, 1)
}

func logarithms(values []float64) []float64 {
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	return logs
}

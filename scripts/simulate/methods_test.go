package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"ds2/internal/conclude"
	"ds2/internal/measure"
)

// disturbed are the disturbances that the methods are compared by.
var disturbed = []string{
	"no disturbance", "drift of 3 % a run", "a job of −5 % every fourth run", "a day's effect of 2 %",
	"one run in ten stalls, −10 %",
}

// bootstrap says whether the percentile interval of the mean of some values leaves 0 out.
func bootstrap(random *rand.Rand, values []float64) bool {
	var means []float64
	for range 1000 {
		sum := 0.
		for range values {
			sum += values[random.IntN(len(values))]
		}
		means = append(means, sum)
	}
	slices.Sort(means)
	return means[25] > 0 || means[974] < 0
}

// excludes0 says whether the interval of the mean of some values by Student's t leaves 0 out.
func excludes0(values []float64) bool {
	mean, half := measure.MeanCI95(values)
	return math.Abs(mean) > half
}

// TestMethods has two equal configurations, in six blocks at 2 % noise, compared by ds2 and by the
// best known methods.
func TestMethods(t *testing.T) {
	made := simulated(t, "methods", append([]string{
		"two equal configurations, six runs each, said to differ by",
	}, disturbed...)...)
	names := []string{
		"ds2, in blocks",
		"the analysis of variance of randomized blocks",
		"bootstrap over blocks (1,000 resamples, percentiles)",
		"Welch's test, the same runs",
		"Welch's test, one configuration after the other",
		"a hierarchy of days and runs (Kalibera and Jones, 2013)",
	}
	rows := make([][]string, len(names))
	for _, why := range disturbed {
		random := randomOf("methods " + why)
		of := shares(func() []bool {
			by := disturbances[why](random)
			var figures []measure.RunFigure
			var rises []float64
			var byDay [3][]float64
			all := make([][]float64, 2)
			var after [2][]float64
			for block, order := range measure.RandomBlocks(random, 2, 6) {
				rise := 0.
				for _, i := range order {
					run := len(figures)
					v := .02*random.NormFloat64() + by(run)
					figures = append(figures, measure.RunFigure{
						Block: block, Run: run, Configuration: fmt.Sprint("c", i), Value: math.Exp(v),
					})
					all[i] = append(all[i], math.Exp(v))
					rise += v * float64(2*i-1)
				}
				rises = append(rises, rise)
				byDay[block/2] = append(byDay[block/2], rise)
			}
			for run := range 12 {
				v := math.Exp(.02*random.NormFloat64() + by(run))
				after[run/6] = append(after[run/6], v)
			}
			var ofDays []float64
			for _, day := range byDay {
				ofDays = append(ofDays, stat.Mean(day, nil))
			}
			ours := measure.Differences([]string{"c0", "c1"}, figures, measure.WithFirst(2), 1)[0]
			return []bool{
				ours.Change.Significant(), excludes0(rises), bootstrap(random, rises),
				measure.Compare(all[0], all[1], measure.Alone).Significant(),
				measure.Compare(after[0], after[1], measure.Alone).Significant(),
				excludes0(ofDays),
			}
		})
		for i, found := range of {
			rows[i] = append(rows[i], share(found))
		}
		made.hold("equal ones differ", of[0], mostEqual(why), "%s", why)
	}
	for i, row := range rows {
		made.row(append([]string{names[i]}, row...)...)
	}
}

// TestMethodsWithin is of intervals of a run of 1,200 s by ds2 and by 20 batch means.
func TestMethodsWithin(t *testing.T) {
	made := simulated(t, "methods within", "run of 1,200 s", "ds2: the interval covers the true value",
		"its half", "20 batch means: covers the true value", "its half")
	for _, phi := range []float64{0, .9, .95, .98} {
		random := randomOf(fmt.Sprint("methods within", phi))
		halves := [2]float64{}
		of := shares(func() []bool {
			s := memory(phi).series(random, 1200)
			w, err := s.Compute(last(1200, 1200))
			require.NoError(t, err)
			var batches []float64
			for i := 0; i < 1200; i += 60 {
				sum := 0.
				for _, sample := range s.Samples[i : i+60] {
					sum += float64(sample.Counts.Orders)
				}
				batches = append(batches, sum)
			}
			mean, half := measure.MeanCI95(batches)
			halves[0] += *w.CI95 / 6000 / float64(*replicates)
			halves[1] += half / 6000 / float64(*replicates)
			return []bool{math.Abs(w.OPM-600_000) <= *w.CI95, math.Abs(mean-600_000) <= half}
		})
		made.row(fmt.Sprintf("φ %g", phi), share(of[0]), fmt.Sprintf("%.2f %%", halves[0]),
			share(of[1]), fmt.Sprintf("%.2f %%", halves[1]))
		made.hold("the interval misses the truth", 1-of[0], .07, "φ %g", phi)
	}
}

// TestTrendWidens is of the interval of a run whose rate falls all the time.
func TestTrendWidens(t *testing.T) {
	made := simulated(
		t, "trend", "the rate changes, a minute, by", "the interval of a run of 1,200 s is ±",
	)
	for _, percent := range []float64{0, -.25, -1} {
		random := randomOf(fmt.Sprint("trend", percent))
		p := memory(.8)
		p.change = func(_ *rand.Rand, all []float64, _ []int) {
			for i := range all {
				all[i] *= 1 + percent/100*float64(i)/60
			}
		}
		half := 0.
		wide := shares(func() []bool {
			w, err := p.series(random, 1200).Compute(last(1200, 1200))
			require.NoError(t, err)
			half += 100 * *w.CI95 / w.OPM / float64(*replicates)
			return []bool{*w.CI95 > conclude.WidestInterval*w.OPM}
		})[0]
		made.row(fmt.Sprintf("%g %%", percent), fmt.Sprintf("%.1f %%", half))
		switch percent {
		case 0:
			made.hold("a level rate has an interval of more than 5 %", wide, .01, "a run")
		case -1:
			made.hold("a falling rate has one of 5 % or less", 1-wide, .01, "a run")
		}
	}
}

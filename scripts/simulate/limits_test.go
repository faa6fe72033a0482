package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// Orders take 100 ms in the middle, and their logarithms vary by .3 from one to the next, and by
// levelNoise from one second to another.
const levelNoise = .1

// trueP95 and trueMean are those in the long run, in seconds.
var (
	trueP95  = .1 * math.Exp(1.644854*math.Hypot(.3, levelNoise))
	trueMean = .1 * math.Exp((.3*.3+levelNoise*levelNoise)/2)
)

// timed is a run of 5 orders a second whose level leaves a share phi to the next second.
func timed(t *testing.T, random *rand.Rand, seconds int, phi, between float64) limit.Source {
	t.Helper()
	meter := measure.NewMeter(nil, []string{"host/db"})
	user := meter.NewRecorder(0)
	var s measure.Series
	run := between * random.NormFloat64()
	for i, level := range autoregressive(random, seconds, phi) {
		for range 5 {
			log := run + levelNoise*(level-10_000)/500 + .3*random.NormFloat64()
			took := time.Duration(float64(100*time.Millisecond) * math.Exp(log))
			var o measure.Order
			o.Complete(0, took, took)
			user.Record(&o)
		}
		if at := time.Duration(i+1) * time.Second; (i+1)%50 == 0 || i+1 == seconds {
			s.Samples = append(s.Samples, meter.Sample(at, []measure.Users{{}}))
			s.Intervals = append(s.Intervals, meter.Interval(at))
		}
	}
	return limit.Source{Words: result.Words{Cycle: "order"}, Series: s}
}

// judge gives the verdicts of a run on limits.
func judge(t *testing.T, source limit.Source, limits []limit.Limit) result.Verdicts {
	t.Helper()
	end := source.Series.Samples[len(source.Series.Samples)-1].End
	figures, err := source.WithIntervals(measure.Window{To: end.Seconds()})
	require.NoError(t, err)
	return limit.Judge(limits, figures)
}

// TestIntervalsOfLimits is of the intervals that limits on response times are judged by.
func TestIntervalsOfLimits(t *testing.T) {
	made := simulated(t, "limit intervals", "order of response times, run of",
		"p95: the interval covers the true value", "its half", "mean: covers the true value", "its half")
	for _, c := range []struct {
		phi     float64
		seconds int
	}{{0, 120}, {0, 1200}, {.9, 120}, {.9, 1200}, {.98, 1200}} {
		random := randomOf(fmt.Sprint("limit intervals", c))
		limits, err := limit.ParseAll([]string{"order p95 < 1s", "order mean < 1s"})
		require.NoError(t, err)
		halves := [2]float64{}
		of := shares(func() (held []bool) {
			verdicts := judge(t, timed(t, random, c.seconds, c.phi, 0), limits)
			for i, truth := range []float64{trueP95, trueMean} {
				v := verdicts[i]
				require.NotNil(t, v.Half())
				halves[i] += 100 * *v.Half() / truth / float64(*replicates)
				held = append(held, *v.Low <= truth && truth <= *v.High)
			}
			return held
		})
		made.row(fmt.Sprintf("φ %g, %d s", c.phi, c.seconds),
			share(of[0]), fmt.Sprintf("%.1f %%", halves[0]),
			share(of[1]), fmt.Sprintf("%.1f %%", halves[1]))
		for i, held := range of {
			if c.phi == 0 || c.seconds >= 1200 {
				what := "the interval misses the " + []string{"p95", "mean"}[i]
				made.hold(what, 1-held, .07, "%+v", c)
			}
		}
	}
}

// TestLimits is of what is said of a limit on the 95th percentile that the truth keeps or misses:
// the same runs are judged by limits below and above the truth.
func TestLimits(t *testing.T) {
	head := []string{"the truth is", "over the limit by", "before: pass", "hold", "cannot tell", "fail"}
	made := simulated(t, "limits", head...)
	over := []float64{-.1, -.05, -.03, .03, .05, .1}
	var texts []string
	for _, by := range over {
		texts = append(texts, fmt.Sprintf("order p95 < %.9fs", trueP95/(1+by)))
	}
	limits, err := limit.ParseAll(texts)
	require.NoError(t, err)
	for _, c := range []struct {
		why     string
		runs    int
		between float64 // by which runs vary, in the logarithm
	}{
		{"that of one run, of 1,200 s and φ .98", 1, 0},
		{"that of all such runs, which vary by 5 %, and one is made", 1, .05},
		{"that of 3 runs, which vary by 2 %", 3, .02},
		{"that of 3 runs, which vary by 5 %", 3, .05},
		{"that of 5 runs, which vary by 5 %", 5, .05},
		{"that of 9 runs, which vary by 5 %", 9, .05},
	} {
		random := randomOf(fmt.Sprint("limits", c))
		of := shares(func() (happened []bool) {
			for _, v := range verdictsOf(t, random, c.runs, c.between, limits) {
				happened = append(happened, v.OK && v.Held == v.Runs, v.Holds(), v.Open(), v.Fails())
			}
			return happened
		})
		for i, by := range over {
			row := []string{c.why, fmt.Sprintf("%+g %%", 100*by)}
			own := of[4*i : 4*i+4]
			for _, v := range own {
				row = append(row, share(v))
			}
			made.row(row...)
			wrong := own[1] // that it holds
			if by < 0 {
				wrong = own[3]
			}
			if c.runs > 1 || c.between == 0 { // of other runs one says nothing
				made.hold(fmt.Sprintf("%+g is judged wrong", by), wrong, .03, "%+v", c)
			}
		}
	}
}

// verdictsOf are those of some runs together. Runs of several have figures alone, so that what
// counts is how they vary.
func verdictsOf(
	t *testing.T, random *rand.Rand, runs int, between float64, limits []limit.Limit,
) result.Verdicts {
	t.Helper()
	if runs == 1 {
		return judge(t, timed(t, random, 1200, .98, between), limits)
	}
	var all []result.Verdicts
	for range runs {
		value := trueP95 * math.Exp(between*random.NormFloat64())
		figure := func(limit.Metric) (limit.Figure, bool) { return limit.Figure{Value: value}, true }
		all = append(all, limit.Judge(limits, figure))
	}
	return limit.Together(all)
}

package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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

// judged is the verdict of a run on a limit.
func judged(t *testing.T, source limit.Source, text string) result.Verdict {
	t.Helper()
	l, err := limit.Parse(text)
	require.NoError(t, err)
	end := source.Series.Samples[len(source.Series.Samples)-1].End
	figures, err := source.WithIntervals(measure.Window{To: end.Seconds()})
	require.NoError(t, err)
	return limit.Judge([]limit.Limit{l}, figures)[0]
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
		halves := [2]float64{}
		of := shares(func() (held []bool) {
			source := timed(t, random, c.seconds, c.phi, 0)
			for i, truth := range []float64{trueP95, trueMean} {
				v := judged(t, source, []string{"order p95 < 1s", "order mean < 1s"}[i])
				require.NotNil(t, v.Half())
				halves[i] += 100 * *v.Half() / truth / float64(*replicates)
				held = append(held, *v.Low <= truth && truth <= *v.High)
			}
			return held
		})
		made.row(fmt.Sprintf("φ %g, %d s", c.phi, c.seconds),
			share(of[0]), fmt.Sprintf("%.1f %%", halves[0]),
			share(of[1]), fmt.Sprintf("%.1f %%", halves[1]))
		for _, held := range of {
			assert.True(
				t, c.phi > 0 && c.seconds < 1200 || kept(1-held, .07), "%+v: %s", c, share(held),
			)
		}
	}
}

// TestLimits is of what is said of a limit on the 95th percentile that the truth keeps or misses.
func TestLimits(t *testing.T) {
	head := []string{"the truth is", "over the limit by", "before: pass", "hold", "cannot tell", "fail"}
	made := simulated(t, "limits", head...)
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
		for _, over := range []float64{-.1, -.05, -.03, .03, .05, .1} {
			random := randomOf(fmt.Sprint("limits", c, over))
			text := fmt.Sprintf("order p95 < %.9fs", trueP95/(1+over))
			of := shares(func() []bool {
				v := verdictOf(t, random, c.runs, c.between, text)
				return []bool{v.OK && v.Held == v.Runs, v.Holds(), v.Open(), v.Fails()}
			})
			made.row(c.why, fmt.Sprintf("%+g %%", 100*over),
				share(of[0]), share(of[1]), share(of[2]), share(of[3]))
			wrong := of[1] // said to hold
			if over < 0 {
				wrong = of[3]
			}
			single := c.runs == 1 && c.between > 0 // of other runs one says nothing
			assert.True(t, single || kept(wrong, .03), "%+v, %+g: %s wrong", c, over, share(wrong))
		}
	}
}

// verdictOf is the verdict of some runs together. Runs of several have figures alone, so that what
// counts is how they vary.
func verdictOf(t *testing.T, random *rand.Rand, runs int, between float64, text string) result.Verdict {
	t.Helper()
	if runs == 1 {
		return judged(t, timed(t, random, 1200, .98, between), text)
	}
	l, err := limit.Parse(text)
	require.NoError(t, err)
	var all []result.Verdicts
	for range runs {
		value := trueP95 * math.Exp(between*random.NormFloat64())
		figure := func(limit.Metric) (limit.Figure, bool) { return limit.Figure{Value: value}, true }
		all = append(all, limit.Judge([]limit.Limit{l}, figure))
	}
	return limit.Together(all)[0]
}

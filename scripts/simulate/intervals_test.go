package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/nightly"
)

// process makes the orders of each second of a run, about 10,000 with a variation of 5 %.
type process struct {
	name   string
	phi    float64 // what share of the noise of each second is left to the next
	cycle  int     // seconds from one checkpoint to the next; 0: there are none
	jitter float64
	// what else befalls them; nil: nothing
	change func(random *rand.Rand, orders []float64, begins []int)
}

func (p process) orders(random *rand.Rand, seconds int, begins []int) []float64 {
	all := autoregressive(random, seconds, p.phi)
	if p.change != nil {
		p.change(random, all, begins)
	}
	return all
}

// autoregressive leaves a share phi of the noise of each second to the next.
func autoregressive(random *rand.Rand, seconds int, phi float64) []float64 {
	all := make([]float64, seconds)
	noise := random.NormFloat64()
	for i := range all {
		noise = phi*noise + math.Sqrt(1-phi*phi)*random.NormFloat64()
		all[i] = 10_000 + 500*noise
	}
	return all
}

func memory(phi float64) process { return process{name: fmt.Sprintf("φ %g", phi), phi: phi} }

// wander is white noise beside slow noise of a share of its variance.
func wander(phi, variance float64) process {
	name := fmt.Sprintf("white noise and φ %g", phi)
	return process{name: name, change: func(random *rand.Rand, all []float64, _ []int) {
		for i, slow := range autoregressive(random, len(all), phi) {
			all[i] += (slow - 10_000) * math.Sqrt(variance)
		}
	}}
}

// sawtooth falls by 40 % from the begin of each checkpoint to the next.
func sawtooth(period int, jitter float64) process {
	name := fmt.Sprintf("sawtooth %d s", period)
	if jitter > 0 {
		name += fmt.Sprintf(" ± %g %%", 100*jitter)
	}
	return process{name, 0, period, jitter, func(_ *rand.Rand, all []float64, begins []int) {
		for k := 1; k < len(begins); k++ {
			for i := max(0, begins[k-1]); i < min(begins[k], len(all)); i++ {
				all[i] += 4000 * (.5 - (float64(i-begins[k-1])+.5)/float64(begins[k]-begins[k-1]))
			}
		}
	}}
}

func pareto() process {
	return process{name: "Pareto stalls", change: func(random *rand.Rand, all []float64, _ []int) {
		for at := random.ExpFloat64() * 60; at < float64(len(all)); at += random.ExpFloat64() * 60 {
			length := math.Pow(1-random.Float64(), -1/1.5)
			for i := int(at); i < min(int(at+length), len(all)); i++ {
				all[i] *= .2
			}
		}
	}}
}

// seldomStalls stops everything for 5 s about every ten minutes.
func seldomStalls() process {
	return process{name: "stalls of 5 s every 600 s", change: func(random *rand.Rand, all []float64, _ []int) {
		for at := random.ExpFloat64() * 600; at < float64(len(all)); at += 5 + random.ExpFloat64()*600 {
			for i := int(at); i < min(int(at)+5, len(all)); i++ {
				all[i] = 0
			}
		}
	}}
}

// levels keeps one of two rates, 20 % apart, for 300 s on average before it takes the other.
func levels() process {
	return process{
		name: "two levels, 300 s",
		change: func(random *rand.Rand, all []float64, _ []int) {
			level := float64(1000 * (2*random.IntN(2) - 1))
			for i := range all {
				if random.Float64() < 1./300 {
					level = -level
				}
				all[i] += level
			}
		},
	}
}

// series is a run phase of these seconds, with the begins of the checkpoints in it.
func (p process) series(random *rand.Rand, seconds int) measure.Series {
	var s measure.Series
	var begins []int
	if p.cycle > 0 {
		s.Cycles = []time.Duration{}
		for at := -random.IntN(p.cycle); ; {
			begins = append(begins, at)
			if at >= 0 && at <= seconds {
				s.Cycles = append(s.Cycles, time.Duration(at)*time.Second)
			}
			if at > seconds {
				break
			}
			at += max(1, int(math.Round(float64(p.cycle)*(1+p.jitter*random.NormFloat64()))))
		}
	}
	for i, orders := range p.orders(random, seconds, begins) {
		s.Samples = append(s.Samples, measure.Sample{
			End: time.Duration(i+1) * time.Second, Length: time.Second, Phase: measure.PhaseRun,
			Counts: measure.Counts{Orders: int64(math.Round(max(0, orders)))},
		})
	}
	return s
}

// covered is what came of many intervals; known is the share of those of one who knows the
// variation that contain the true value.
type covered struct{ held, width, marked, given, known float64 }

func (c covered) String() string {
	text := share(c.held) + "/" + fmt.Sprintf("%.2f", c.width)
	if c.given < .95 {
		text += fmt.Sprintf(" {%s}", share(c.given))
	}
	if c.marked > .05 {
		text += fmt.Sprintf(" [%s]", share(c.marked))
	}
	return text
}

// intervals compares the intervals of windows of runs, of which each has all, with the true value,
// and their width against that of one who knows the variation of such windows.
func intervals(
	random *rand.Rand,
	p process,
	truth float64,
	seconds int,
	specs ...measure.WindowSpec,
) (all []covered) {
	rates := make([][]float64, len(specs))
	halves := make([][]float64, len(specs))
	all = make([]covered, len(specs))
	for range *replicates {
		s := p.series(random, seconds)
		for i, spec := range specs {
			w, err := s.Compute(spec)
			if err != nil || w.CI95 == nil {
				continue
			}
			rates[i] = append(rates[i], w.OPM)
			halves[i] = append(halves[i], *w.CI95)
			if w.FewSamples != "" {
				all[i].marked++
			}
		}
	}
	for i := range all {
		all[i].compare(truth, rates[i], halves[i])
	}
	return all
}

// compare is of the intervals around rates.
func (c *covered) compare(truth float64, rates, halves []float64) {
	squares := 0.
	width := 0.
	n := float64(len(rates))
	for i, r := range rates {
		squares += (r - truth) * (r - truth)
		width += halves[i]
		if math.Abs(r-truth) <= halves[i] {
			c.held++
		}
	}
	oracle := 1.96 * math.Sqrt(squares/n)
	for _, r := range rates {
		if math.Abs(r-truth) <= oracle {
			c.known++
		}
	}
	c.given = n / float64(*replicates)
	c.held, c.width, c.marked, c.known = c.held/n, width/n/oracle, c.marked/n, c.known/n
}

// longRun is the OPM of a process in the long run.
func longRun(p process) float64 {
	if p.name != pareto().name && p.name != seldomStalls().name {
		return 600_000
	}
	random := rand.New(rand.NewPCG(1, 1))
	sum := 0.
	for range 200 {
		for _, orders := range p.orders(random, 3600, nil) {
			sum += orders
		}
	}
	return 60 * sum / 200 / 3600
}

func last(seconds, of int) measure.WindowSpec {
	to := time.Duration(of) * time.Second
	return measure.WindowSpec{
		Name: "w",
		Span: measure.Span{From: to - time.Duration(seconds)*time.Second, To: to},
	}
}

// bounds is what share of the intervals of runs of such a process and length has to contain the
// true value, and how many of them may be marked as few independent samples.
var bounds = map[string]struct{ least, from, to float64 }{
	"φ 0, 60": {
		.93,
		0,
		.1,
	},
	"φ 0, 200":    {.93, 0, .05},
	"φ 0, 600":    {.93, 0, .05},
	"φ 0, 1200":   {.93, 0, .05},
	"φ 0.8, 200":  {.92, 0, .2},
	"φ 0.8, 1200": {.93, 0, .05},
	"φ 0.9, 1200": {.93, 0, .05},
	"φ 0.95, 200": {
		.90,
		.5,
		1,
	},
	"φ 0.95, 1200":                 {.93, 0, .05},
	"white noise and φ 0.95, 1200": {.93, 0, .05},
}

func TestIntervals(t *testing.T) {
	made := simulated(
		t,
		"intervals",
		"process",
		"60 s",
		"200 s",
		"600 s",
		"1,200 s",
		"200 of 1,200 s",
	)
	for _, p := range []process{
		memory(0), memory(.8), memory(.9), memory(.95), memory(.98), wander(.9, .2), wander(.95, .2), wander(.98, .2),
		levels(), pareto(), seldomStalls(), sawtooth(100, 0), sawtooth(300, 0),
	} {
		random := randomOf(p.name)
		truth := longRun(p)
		row := []string{p.name}
		hold := func(got covered, window, of int) {
			n := float64(*replicates) * got.given
			b, known := bounds[fmt.Sprintf("%s, %d", p.name, of)]
			if window < of && p.cycle == 0 {
				made.holdAmong(fmt.Sprintf("an interval of %d of %d s contains the true value", window, of),
					got.held, n, .97, "%s", p.name)
			}
			if known {
				assert.EqualValues(t, 1, got.given, "%s, %d of %d s", p.name, window, of)
				what := fmt.Sprintf("an interval of %d of %d s ", window, of)
				made.hold(what+"misses the true value", 1-got.held, 1-b.least, "%s", p.name)
				made.hold(what+"is marked", got.marked, b.to, "%s", p.name)
				made.hold(what+"is not marked", 1-got.marked, 1-b.from, "%s", p.name)
			}
		}
		for _, seconds := range []int{60, 200, 600} {
			got := intervals(random, p, truth, seconds, last(seconds, seconds))[0]
			row = append(row, got.String())
			hold(got, seconds, seconds)
		}
		windows := []int{1200, 200, 60} // of the same runs
		of := intervals(random, p, truth, 1200, last(1200, 1200), last(200, 1200), last(60, 1200))
		for i, window := range windows {
			hold(of[i], window, 1200)
		}
		made.row(append(row, of[0].String(), of[1].String())...) // 60 of 1,200 s is not published
	}
}

func TestCycles(t *testing.T) {
	made := simulated(t, "cycles", "process", "whole cycles of 1,200 s", "all of 1,200 s",
		"200 of 1,200 s", "one who knows the variation of 200 s")
	for _, p := range []process{
		sawtooth(100, 0), sawtooth(130, 0), sawtooth(130, .1), sawtooth(250, 0), sawtooth(300, 0),
	} {
		random := randomOf(p.name)
		cycles := measure.WindowSpec{Name: "w", Cycles: 1200 / p.cycle}
		whole := intervals(random, p, longRun(p), 1200+p.cycle, cycles)[0]
		of := intervals(random, p, longRun(p), 1200, last(1200, 1200), last(200, 1200))
		made.hold("an interval of whole cycles misses the true value", 1-whole.held, .07, "%s", p.name)
		made.hold("an interval of whole cycles contains the true value", whole.held, .98, "%s", p.name)
		made.hold("an interval of windows anywhere in the cycle misses it", 1-of[1].held, .07, "%s", p.name)
		// the width of one who knows is that of the replicates' variation
		widest := 1.4 * (1 + deviations/math.Sqrt(2*float64(*replicates)))
		assert.LessOrEqual(t, whole.width, widest, "%s: of the width of one who knows", p.name)
		made.row(p.name, whole.String(), of[0].String(), of[1].String(), share(of[1].known))
	}
}

// minutes is a run of 24 hours whose samples are minutes, with white noise beside a wander of a
// memory of n hours.
func minutes(hours, loss float64) process {
	return process{change: func(random *rand.Rand, all []float64, begins []int) {
		if hours > 0 {
			wander(math.Exp(-1/hours/60), .25).change(random, all, begins)
		}
		for i := range all {
			all[i] *= 1 - loss*float64(i)/float64(len(all))
		}
	}}
}

func TestTrends(t *testing.T) {
	made := simulated(
		t,
		"trends",
		"24 hours of white noise and a wander of",
		"trend found, none there",
		"told",
		"found, a loss of 3 % there",
	)
	for _, hours := range []float64{0, .5, 1, 3} {
		random := randomOf(fmt.Sprint("trend", hours))
		of := func(loss float64) []float64 {
			return shares(func() []bool {
				s := minutes(hours, loss).series(random, 24*60)
				for i := range s.Samples {
					s.Samples[i].End = s.Samples[i].End * 60
					s.Samples[i].Length = time.Minute
				}
				w, err := s.Window("day", measure.Span{To: 24 * time.Hour})
				require.NoError(t, err)
				return []bool{w.Trend != nil, w.Trend != nil && w.Trend.Found}
			})
		}
		none := of(0)
		loss := of(.03)
		made.hold("a trend is found where none is", none[1], .015, "%g hours", hours)
		made.row(fmt.Sprintf("%g hours", hours), share(none[1]), share(none[0]), share(loss[1]))
	}
}

// TestTrendsOfRuns: of seconds too that resemble their neighbours a trend is seldom found, and a
// loss that matters is.
func TestTrendsOfRuns(t *testing.T) {
	nightly.Long(t, "simulates for seconds")
	t.Parallel()
	made := newPromises(t)
	for _, c := range []struct {
		seconds         int
		phi, loss, most float64 // share of the runs in which what is found of a trend is wrong
	}{
		{1200, 0, 0, .015},
		{1200, .9, 0, .015},
		{200, .9, 0, .025},
		{60, .9, 0, .025},
		{3600, .9, .08, .05},
		{1200, 0, .08, .05},
		{60, 0, .2, .05},
	} {
		p := memory(c.phi)
		random := randomOf(fmt.Sprint("trend of a run", c))
		p.change = func(_ *rand.Rand, all []float64, _ []int) {
			for i := range all {
				all[i] -= 10_000 * c.loss * float64(i) / float64(c.seconds)
			}
		}
		found := shares(func() []bool {
			end := measure.Span{To: time.Duration(c.seconds) * time.Second}
			w, err := p.series(random, c.seconds).Window("run", end)
			require.NoError(t, err)
			return []bool{w.Trend != nil && w.Trend.Found}
		})[0]
		if c.loss > 0 {
			made.hold("a loss is not found", 1-found, c.most, "%+v", c)
		} else {
			made.hold("a trend is found where none is", found, c.most, "%+v", c)
		}
	}
}

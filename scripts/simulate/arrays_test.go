package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/compare"
	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// array makes runs of 1,260 s of which the first 60 are warm-up.
type array struct {
	rate    float64 // orders a second in the long run
	phi     float64 // what share of the noise of each second is left to the next
	dip     float64 // share by which the rate falls in the second half of each cycle of 300 s
	random  bool    // the phase of the cycle at which runs begin
	cold    float64 // share of the rate that is missing at first
	warming float64 // s, by e
	stalls  float64 // s, of 5 s each, from one to the next on average; 0: there are none
}

// arrays are the disturbances within a run, which all runs of an array have.
var arrays = map[string]array{
	"no disturbance":                   {},
	"φ 0.98":                           {phi: .98},
	"φ 0.995":                          {phi: .995},
	"dips of 20 % at one phase":        {dip: .2},
	"dips of 40 % at one phase":        {dip: .4},
	"dips of 60 % at one phase":        {dip: .6},
	"dips of 20 % at a random phase":   {dip: .2, random: true},
	"dips of 40 % at a random phase":   {dip: .4, random: true},
	"dips of 60 % at a random phase":   {dip: .6, random: true},
	"30 % cold, warm by e in 300 s":    {cold: .3, warming: 300},
	"50 % cold, warm by e in 900 s":    {cold: .5, warming: 900},
	"50 % cold, warm by e in 1,800 s":  {cold: .5, warming: 1800},
	"a stall of 5 s every ten minutes": {stalls: 600},
}

// series is a run of an array, at a level of its own, in samples of some seconds.
func (a array) series(random *rand.Rand, sampled int) (s measure.Series) {
	level := a.rate * math.Exp(.01*random.NormFloat64())
	first := 0
	if a.random {
		first = random.IntN(300)
	}
	phi := a.phi
	if phi == 0 {
		phi = .8
	}
	stall := math.Inf(1)
	if a.stalls > 0 {
		stall = a.stalls * random.ExpFloat64()
		level *= (a.stalls + 5) / a.stalls // so that the rate is that of the long run
	}
	s.Cycles = []time.Duration{}
	orders := 0.
	for i, noise := range autoregressive(random, 1260, phi) {
		rate := level * noise / 10_000 * (1 - a.cold*math.Exp(-float64(i)/max(1, a.warming)))
		if (i+first)%300 == 0 {
			s.Cycles = append(s.Cycles, time.Duration(i)*time.Second)
		}
		if (i+first)%300 >= 150 {
			rate *= 1 - a.dip
		} else {
			rate *= 1 + a.dip
		}
		if float64(i) > stall+5 {
			stall += 5 + a.stalls*random.ExpFloat64()
		}
		if float64(i) < stall {
			orders += rate
		}
		if (i+1)%sampled > 0 {
			continue
		}
		phase := measure.PhaseRun
		if i < 60 {
			phase = measure.PhaseWarmup
		}
		s.Samples = append(s.Samples, measure.Sample{
			End: time.Duration(i+1) * time.Second, Length: time.Duration(sampled) * time.Second,
			Phase:  phase,
			Counts: measure.Counts{Orders: int64(math.Round(orders))},
		})
		orders = 0
	}
	return s
}

// run is what a run of an array comes to in a window; nil: the default one.
func (a array) run(t *testing.T, random *rand.Rand, window *measure.WindowSpec) result.BenchRun {
	t.Helper()
	s := a.series(random, 5) // a fifth of the time that samples of a second take
	spec := s.DefaultWindow()
	if window != nil {
		spec = *window
	}
	w, err := s.Compute(spec)
	require.NoError(t, err)
	var sum result.Summary
	sum.Windows = []measure.Window{w}
	sum.Bottleneck = &result.Bottleneck{What: diagnose.Storage}
	sum.Headline = result.NewHeadline(
		&result.Figure{Unit: result.OPM, Value: w.OPM, CI95: w.CI95},
	)
	r := result.BenchRun{Dir: "run", Status: result.Done}
	compare.Take(&r, sum)
	return r
}

// bench is that array in runs.
func (a array) bench(
	t *testing.T, random *rand.Rand, name string, runs int, window *measure.WindowSpec,
) compare.Configuration {
	t.Helper()
	c := compare.Configuration{Name: name}
	c.Spec.Runs = runs
	c.Status = result.Done
	for range runs {
		c.Runs = append(c.Runs, a.run(t, random, window))
	}
	compare.Runs(&c.Bench)
	return c
}

// inBlocks has the runs of configurations made in blocks instead.
func inBlocks(random *rand.Rand, all ...compare.Configuration) []compare.Configuration {
	run := 0
	for block, order := range measure.RandomBlocks(random, len(all), len(all[0].Runs)) {
		for _, i := range order {
			all[i].Runs[block].Block = block + 1
			all[i].Runs[block].Number = run
			run++
		}
	}
	for i := range all {
		all[i].Experiment = "e"
		compare.Runs(&all[i].Bench)
	}
	return all
}

// TestSharedBias has two arrays all runs of which share a phase of the cycle of checkpoints, or a
// cache that fills: how often equal arrays differ without a doubt, and what is said of arrays 5 %
// apart.
func TestSharedBias(t *testing.T) {
	made := simulated(t, "shared", "all runs of the one array have", "made", "window",
		"equal arrays said to differ", "the mean of the equal one misses the truth",
		"of arrays 5 % apart the slower one called faster", "found", "cannot tell")
	published, err := measure.ParseWindow("1000s-1200s")
	require.NoError(t, err)
	for _, c := range []struct {
		runs    int
		blocks  bool
		window  *measure.WindowSpec
		made    string
		windows string
	}{
		{5, false, nil, "benches of 5", "default"},
		{6, true, nil, "6 blocks", "default"},
		{5, false, &published, "benches of 5", "1,000 to 1,200 s"},
	} {
		for _, why := range levelsOf(t, "shared", "disturbance") {
			of := arrays[why]
			random := randomOf("shared " + c.made + c.windows + why)
			shares := shares(func() []bool {
				a := array{rate: 10_000}.bench(t, random, "a", c.runs, c.window)
				against := func(faster float64) (compare.Comparison, *compare.Difference) {
					of.rate = 10_000 * (1 + faster)
					both := []compare.Configuration{a, of.bench(t, random, "b", c.runs, c.window)}
					if c.blocks {
						both = inBlocks(random, both...)
					}
					compared := compare.WithFirst(both)
					d := compared.Of("b", compare.Main)
					if compared.Doubt("a", "b") != nil || d.Significant == nil || !*d.Significant {
						return compared, nil
					}
					return compared, d
				}
				of.rate = 10_000
				equal, differ := against(0)
				apart, found := against(.05)
				b := equal.Configurations[1]
				return []bool{
					differ != nil,
					math.Abs(*b.RunsMean-600_000) > *b.RunsCI95,
					found != nil && found.Percent < 0,
					found != nil,
					result.WorstEffect(apart.Findings) == result.Withholds,
				}
			})
			row := []string{why, c.made, c.windows}
			for _, v := range shares {
				row = append(row, share(v))
			}
			made.row(row...)
			most := .06
			if c.window != nil { // which is asked for, and reserved
				most = .1
			}
			assert.True(t, kept(shares[0], most),
				"%s, %s: equal arrays differ in %s", why, c.made, share(shares[0]))
			assert.True(t, kept(shares[2], .01), "%s, %s: wrong sign in %s", why, c.made, share(shares[2]))
		}
	}
}

// TestSteady is of what is said of runs that are steady, and of some whose cache fills: whether
// most runs of a bench are still warming up, and whether --window auto finds a steady part.
func TestSteady(t *testing.T) {
	benches := numbersOf(t, "steady", "benches")
	head := []string{"runs of 1,200 s have"}
	for _, runs := range benches {
		head = append(head, fmt.Sprintf("a bench of %g: still warming up or slowing down", runs))
	}
	made := simulated(t, "steady", append(head, "--window auto finds no steady part")...)
	for _, why := range levelsOf(t, "steady", "disturbance") {
		of := arrays[why]
		of.rate = 10_000
		random := randomOf("steady " + why)
		got := shares(func() (said []bool) {
			for _, runs := range benches {
				b := of.bench(t, random, "b", int(runs), nil)
				said = append(said, result.FindingOf(b.Findings, result.StillWarming) != nil ||
					result.FindingOf(b.Findings, result.StillSlowing) != nil)
			}
			_, steady := of.series(random, 1).Steady()
			return append(said, !steady)
		})
		row := []string{why}
		for _, v := range got {
			row = append(row, share(v))
		}
		made.row(row...)
		for i := range benches {
			assert.True(t, of.cold > 0 || of.phi > .98 || kept(got[i], .02), "%s: %s", why, share(got[i]))
		}
		assert.True(t, of.cold > 0 || kept(got[len(benches)], .05),
			"%s: no steady part in %s", why, share(got[len(benches)]))
	}
}

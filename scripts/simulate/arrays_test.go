package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

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

// runs are what runs of an array come to, in each of some windows; nil: the default one. The same
// runs are looked at in all of them, as simulating them is what takes time.
func (a array) runs(
	t *testing.T, random *rand.Rand, n int, windows ...*measure.WindowSpec,
) [][]result.BenchRun {
	t.Helper()
	in := make([][]result.BenchRun, len(windows))
	for range n {
		s := a.series(random, 5) // a fifth of the time that samples of a second take
		for i, window := range windows {
			in[i] = append(in[i], takeRun(t, s, window))
		}
	}
	return in
}

// takeRun is what a run comes to in a window.
func takeRun(t *testing.T, s measure.Series, window *measure.WindowSpec) result.BenchRun {
	t.Helper()
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

// benchOf is a bench of runs, which stay as they are.
func benchOf(name string, runs []result.BenchRun) compare.Configuration {
	c := compare.Configuration{Name: name}
	c.Spec.Runs = len(runs)
	c.Status = result.Done
	c.Runs = slices.Clone(runs)
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
// apart. Each experiment is judged by all rules.
func TestSharedBias(t *testing.T) {
	made := simulated(t, "shared", "all runs of the one array have", "made", "window",
		"equal arrays said to differ", "the mean of the equal one misses the truth",
		"of arrays 5 % apart the slower one called faster", "found", "cannot tell")
	published, err := measure.ParseWindow("1000s-1200s")
	require.NoError(t, err)
	rules := []struct {
		runs    int
		blocks  bool
		window  int // of those that runs are looked at in
		made    string
		windows string
	}{
		{5, false, 0, "benches of 5", "default"},
		{6, true, 0, "6 blocks", "default"},
		{5, false, 1, "benches of 5", "1,000 to 1,200 s"}, // which is asked for, and reserved
	}
	rows := make([][][]string, len(rules))
	for _, why := range levelsOf(t, "shared", "disturbance") {
		random := randomOf("shared " + why)
		of := shares(func() (happened []bool) {
			runs := func(a array, rate float64) [][]result.BenchRun {
				a.rate = rate
				return a.runs(t, random, 6, nil, &published)
			}
			quiet := runs(array{}, 10_000)
			equal := runs(arrays[why], 10_000)
			faster := runs(arrays[why], 10_500)
			for _, rule := range rules {
				bench := func(name string, of [][]result.BenchRun) compare.Configuration {
					return benchOf(name, of[rule.window][:rule.runs])
				}
				against := func(other [][]result.BenchRun) (compare.Comparison, *compare.Difference) {
					both := []compare.Configuration{bench("a", quiet), bench("b", other)}
					if rule.blocks {
						both = inBlocks(random, both...)
					}
					compared := compare.WithFirst(both)
					d := compared.Of("b", compare.Main)
					if compared.Doubt("a", "b") != nil || d.Significant == nil || !*d.Significant {
						return compared, nil
					}
					return compared, d
				}
				same, differ := against(equal)
				apart, found := against(faster)
				b := same.Configurations[1]
				happened = append(happened,
					differ != nil,
					math.Abs(*b.RunsMean-600_000) > *b.RunsCI95,
					found != nil && found.Percent < 0,
					found != nil,
					result.WorstEffect(apart.Findings) == result.Withholds,
				)
			}
			return happened
		})
		for i, rule := range rules {
			row := []string{why, rule.made, rule.windows}
			own := of[5*i : 5*i+5]
			for _, v := range own {
				row = append(row, share(v))
			}
			rows[i] = append(rows[i], row)
			where := rule.made + ", " + rule.windows
			made.hold("equal arrays differ: "+where, own[0], .06, "%s", why)
			made.hold("the slower one is called faster: "+where, own[2], .01, "%s", why)
		}
	}
	for _, row := range slices.Concat(rows...) {
		made.row(row...)
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
			all := of.runs(t, random, int(slices.Max(benches)), nil)[0]
			for _, runs := range benches {
				b := benchOf("b", all[:int(runs)])
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
		if of.cold > 0 {
			continue // it is not steady
		}
		for i, runs := range benches {
			if of.phi <= .98 {
				made.hold(fmt.Sprintf("%g steady runs are said to warm up or slow down", runs), got[i], .02,
					"%s", why)
			}
		}
		made.hold("no steady part is found", got[len(benches)], .05, "%s", why)
	}
}

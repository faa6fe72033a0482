package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/compare"
	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// kept says whether a share that was simulated is at most what was promised, as far as the
// replicates can tell: three standard errors.
func kept(share, promised float64) bool {
	return share <= promised+3*math.Sqrt(promised*(1-promised)/float64(*replicates))
}

// TestFamilies has equal configurations compared in blocks: how often any differs from the first.
func TestFamilies(t *testing.T) {
	made := simulated(t, "families", "equal configurations, blocks", "no disturbance",
		"drift of 3 % a run", "a job of −5 % every fourth run", "a day's effect of 2 %",
		"the last 5 times as noisy", "the first 2 times as noisy")
	for _, k := range []int{2, 3, 4, 8} {
		for _, blocks := range []int{5, 6, 9} {
			random := randomOf(fmt.Sprint("families", k, blocks))
			row := []string{fmt.Sprintf("%d, %d", k, blocks)}
			for _, c := range []struct {
				why         string
				drift, job  float64 // percent a run; percent of each fourth run
				day         float64 // percent between days, of four runs each
				first, last float64 // times as noisy as the others
				promised    float64
			}{
				{"none", 0, 0, 0, 1, 1, .06},
				{"drift", 3, 0, 0, 1, 1, .06},
				{"job", 0, 5, 0, 1, 1, .12},
				{"days", 0, 0, 2, 1, 1, .06},
				{"noisy last", 0, 0, 0, 1, 5, .07},
				{"noisy first", 0, 0, 0, 2, 1, .08},
			} {
				of := shares(func() []bool {
					return []bool{told(random, k, blocks, func(run, configuration int) float64 {
						noise := .02
						switch configuration {
						case 0:
							noise *= c.first
						case k - 1:
							noise *= c.last
						}
						v := noise*random.NormFloat64() + c.drift/100*float64(run)
						if run%4 == 0 {
							v += math.Log1p(-c.job / 100)
						}
						day := rand.New(rand.NewPCG(uint64(run/(4*k)), 3)).NormFloat64()
						return v + c.day/100*day
					})}
				})[0]
				row = append(row, share(of))
				assert.True(t, kept(of, c.promised), "%d configurations, %d blocks, %s: %s differ",
					k, blocks, c.why, share(of))
			}
			made.row(row...)
		}
	}
}

// told says whether any of configurations in blocks is said to differ from the first.
func told(random *rand.Rand, k, blocks int, logarithm func(run, configuration int) float64) bool {
	var all []measure.RunFigure
	var names []string
	for i := range k {
		names = append(names, fmt.Sprint("c", i))
	}
	for block, order := range measure.RandomBlocks(random, k, blocks) {
		for _, i := range order {
			all = append(all, measure.RunFigure{
				Block: block, Run: len(all), Configuration: names[i],
				Value: math.Exp(logarithm(len(all), i)),
			})
		}
	}
	for _, d := range measure.Differences(names, all, measure.WithFirst(k), 1)[:k-1] {
		if d.Change.Significant() {
			return true
		}
	}
	return false
}

// array makes runs of 1,260 s of which the first 60 are warm-up.
type array struct {
	rate    float64 // orders a second in the long run
	dip     float64 // share by which the rate falls in the second half of each cycle of 300 s
	cold    float64 // share of the rate that is missing at first
	warming float64 // s, by e
}

// bench is that array in runs, by a window; nil: the default one.
func (a array) bench(
	t *testing.T, random *rand.Rand, name string, runs int, window *measure.WindowSpec,
) compare.Configuration {
	c := compare.Configuration{Name: name}
	c.Spec.Runs = runs
	c.Status = result.Done
	for range runs {
		level := a.rate * math.Exp(.01*random.NormFloat64())
		var s measure.Series
		s.Cycles = []time.Duration{}
		for i, noise := range autoregressive(random, 1260, .8) {
			rate := level * noise / 10_000 * (1 - a.cold*math.Exp(-float64(i)/max(1, a.warming)))
			if i%300 == 0 {
				s.Cycles = append(s.Cycles, time.Duration(i)*time.Second)
			}
			if i%300 >= 150 {
				rate *= 1 - a.dip
			} else {
				rate *= 1 + a.dip
			}
			phase := measure.PhaseRun
			if i < 60 {
				phase = measure.PhaseWarmup
			}
			s.Samples = append(s.Samples, measure.Sample{
				End: time.Duration(i+1) * time.Second, Length: time.Second, Phase: phase,
				Counts: measure.Counts{Orders: int64(math.Round(rate))},
			})
		}
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
		c.Runs = append(c.Runs, r)
	}
	compare.Runs(&c.Bench)
	return c
}

// TestSharedBias has benches of five runs all of which share a phase of the cycle of checkpoints,
// or a cache that fills: how often equal arrays differ without a doubt, and how often of arrays 5 %
// apart the slower one is called faster.
func TestSharedBias(t *testing.T) {
	made := simulated(t, "shared", "five runs of each, all of which have", "window",
		"equal arrays said to differ", "of arrays 5 % apart the slower one called faster",
		"arrays 5 % apart said to differ")
	published, err := measure.ParseWindow("1000s-1200s")
	require.NoError(t, err)
	for _, c := range []struct {
		why    string
		of     array
		window *measure.WindowSpec
	}{
		{"no disturbance", array{}, nil},
		{"dips of 20 % at one phase", array{dip: .2}, nil},
		{"dips of 60 % at one phase", array{dip: .6}, nil},
		{"dips of 20 % at one phase", array{dip: .2}, &published},
		{"dips of 60 % at one phase", array{dip: .6}, &published},
		{"30 % cold, warm by e in 300 s", array{cold: .3, warming: 300}, nil},
		{"50 % cold, warm by e in 900 s", array{cold: .5, warming: 900}, nil},
		{"50 % cold, warm by e in 1,800 s", array{cold: .5, warming: 1800}, nil},
		{"50 % cold, warm by e in 900 s", array{cold: .5, warming: 900}, &published},
	} {
		random := randomOf("shared " + c.why)
		of := shares(func() []bool {
			found := func(faster float64) (differ, wrong bool) {
				a := array{rate: 10_000}.bench(t, random, "a", 5, c.window)
				c.of.rate = 10_000 * (1 + faster)
				b := c.of.bench(t, random, "b", 5, c.window)
				both := compare.WithFirst([]compare.Configuration{a, b})
				d := both.Of("b", compare.Main)
				if both.Doubt("a", "b") != nil || d.Significant == nil || !*d.Significant {
					return false, false
				}
				return true, d.Percent < 0
			}
			equal, _ := found(0)
			apart, wrong := found(.05)
			return []bool{equal, wrong, apart}
		})
		window := "default"
		if c.window != nil {
			window = "1,000 to 1,200 s"
		}
		made.row(c.why, window, share(of[0]), share(of[1]), share(of[2]))
		assert.True(t, kept(of[0], .06),
			"%s, %s: equal arrays differ in %s", c.why, window, share(of[0]))
		assert.True(t, c.window != nil || c.of.cold > 0 || kept(1-of[2], .1),
			"%s: arrays 5 %% apart differ in %s only", c.why, share(of[2]))
		assert.True(t, kept(of[1], .01), "%s, %s: wrong sign in %s", c.why, window, share(of[1]))
	}
}

// TestTrust is of how often a comparison of two in blocks is trustworthy by its interval, and how
// often it is and the truth lies outside.
func TestTrust(t *testing.T) {
	made := simulated(t, "trust", "noise from run to run", "blocks", "trustworthy",
		"trustworthy, and the truth lies outside", "share of the trustworthy",
		"before: trustworthy", "before: both", "share")
	for _, noise := range []float64{.5, 1, 2, 3, 5, 10} {
		for _, blocks := range []int{6, 9} {
			random := randomOf(fmt.Sprint("trust", noise, blocks))
			of := shares(func() []bool {
				names, all := figuresOf(random, runs{percent: noise}, 2, blocks, 1)
				c := measure.Differences(names, all, measure.WithFirst(2), 1)[0].Change
				trusted := c.Widest().Within(5) && c.Percent-c.Widest().Low <= 5
				return []bool{
					trusted,
					trusted && c.Significant(),
					c.Within(5),
					c.Within(5) && c.Significant(),
				}
			})
			made.row(fmt.Sprintf("%g %%", noise), fmt.Sprint(blocks),
				share(of[0]), share(of[1]), share(of[1]/max(1e-9, of[0])),
				share(of[2]), share(of[3]), share(of[3]/max(1e-9, of[2])))
			assert.True(t, kept(of[1], .05), "%g %%, %d blocks: %s", noise, blocks, share(of[1]))
			assert.True(
				t,
				noise < 5 || kept(of[0], .06),
				"%g %%: trusted in %s",
				noise,
				share(of[0]),
			)
		}
	}
}

// TestOrder is of benches whose runs are in order by chance, or because each is 1 % slower.
func TestOrder(t *testing.T) {
	made := simulated(
		t,
		"order",
		"runs, at .5 % noise",
		"in order, no trend",
		"in order, 1 % a run",
	)
	for _, n := range []int{3, 5, 6, 9} {
		random := randomOf(fmt.Sprint("order", n))
		of := shares(func() (found []bool) {
			for _, drift := range []float64{0, -1} {
				p, _ := measure.OrderTrend(runs{percent: .5, drift: drift}.logarithms(random, n))
				found = append(found, p < .02)
			}
			return found
		})
		made.row(fmt.Sprint(n), share(of[0]), share(of[1]))
		assert.True(t, kept(of[0], .02), "%d runs without a trend: %s", n, share(of[0]))
	}
}

// TestWelch is of benches with as many runs each or not.
func TestWelch(t *testing.T) {
	made := simulated(
		t,
		"welch",
		"runs of the one, at 2 %",
		"of the other",
		"equal ones said to differ",
	)
	for _, c := range [][2]int{{2, 2}, {3, 3}, {5, 5}, {3, 9}, {2, 5}, {2, 9}} {
		random := randomOf(fmt.Sprint("welch", c))
		of := shares(func() []bool {
			var all []float64
			for range c[0] + c[1] {
				all = append(all, math.Exp(.02*random.NormFloat64()))
			}
			return []bool{measure.Compare(all[:c[0]], all[c[0]:], measure.Alone).Significant()}
		})[0]
		made.row(fmt.Sprint(c[0]), fmt.Sprint(c[1]), share(of))
		assert.True(t, kept(of, .1), "%v runs: %s", c, share(of))
	}
}

var (
	tables = regexp.MustCompile(`(?s)<!-- simulated: ([^>]+) -->(.*?)<!-- end -->`)
	marks  = regexp.MustCompile(`<!-- (?:simulated: [^>]+|written: [^>]+|end) -->`)
	shared = regexp.MustCompile(`[^0-9]\.\d{2,3}\b`)
)

// TestTablesEnd: each table that is written has an end before anything else is written, so that
// writing one leaves the others.
func TestTablesEnd(t *testing.T) {
	for _, page := range []string{"explanation/method.md", "evidence/2026-11-simulations.md"} {
		text, err := os.ReadFile("../../docs/" + page)
		require.NoError(t, err)
		open := ""
		for _, mark := range marks.FindAllString(string(text), -1) {
			assert.Equal(
				t, mark == "<!-- end -->", open != "", "%s: %s follows %s", page, mark, open,
			)
			if open = mark; mark == "<!-- end -->" {
				open = ""
			}
		}
		assert.Empty(t, open, page)
	}
}

// foundBy are the simulated shares that the text of pages gives, and the tables that they are from.
var foundBy = map[string]string{
	".933": "intervals", ".957": "intervals", ".846": "intervals", ".852": "intervals",
	".703": "intervals", ".947": "cycles", ".960": "cycles",
	".007": "trends", ".018": "trends",
	".94": "until", ".95": "until", ".78": "until",
	".325": "trust", ".089": "trust", ".115": "families", ".085": "families",
}

// setLevels are no figures that were found: those of an early look, of what runs share, of runs in
// order, of a change of level, and of all that is stated together, with its bound in simulations;
// and an autocorrelation.
var setLevels = strings.Fields(".001 .01 .02 .03 .05 .06 .98")

// TestFiguresOfText: each share that the text of a page gives, in two digits or three, is one that
// was set, or stands in the table that foundBy names.
func TestFiguresOfText(t *testing.T) {
	made := map[string]bool{} // by table and figure
	texts := map[string]string{}
	for _, page := range []string{
		"explanation/method.md", "explanation/claims.md", "howto/compare.md",
		"evidence/2026-11-simulations.md",
	} {
		text, err := os.ReadFile("../../docs/" + page)
		require.NoError(t, err)
		for _, table := range tables.FindAllStringSubmatch(string(text), -1) {
			for _, figure := range shared.FindAllString(table[2], -1) {
				of, err := strconv.ParseFloat(figure[1:], 64)
				require.NoError(t, err)
				made[table[1]+figure[1:]] = true
				made[table[1]+strings.TrimPrefix(fmt.Sprintf("%.2f", of), "0")] = true
			}
		}
		if !strings.HasPrefix(page, "evidence") {
			texts[page] = tables.ReplaceAllString(string(text), "")
		}
	}
	for page, text := range texts {
		for _, figure := range shared.FindAllString(text, -1) {
			figure = figure[1:]
			assert.True(t, slices.Contains(setLevels, figure) || made[foundBy[figure]+figure],
				"%s: no simulation gives %s", page, figure)
		}
	}
}

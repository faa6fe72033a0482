package report

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/compare"
	"ds2/internal/diagnose"
	"ds2/internal/limit"
	"ds2/internal/result"
	"ds2/internal/texttest"
)

// arrays are a slow and a fast one, of which each read a number of times per order, give or take a
// little.
func arrays(slow, fast float64) (hdd, ssd compare.Configuration) {
	hdd = benchOf("hdd", diagnose.Storage, 1000, 1020, 990, 1010, 1005)
	ssd = benchOf("ssd", diagnose.Storage, 5300, 5420, 5350, 5290, 5410)
	for i := range 5 {
		hdd.Runs[i].Costs.Reads = new(slow * (1 + float64(i)/100))
		ssd.Runs[i].Costs.Reads = new(fast * (1 - float64(i)/100))
	}
	return hdd, ssd
}

// drifting has a run drift by so many percent.
func drifting(r *result.BenchRun, percent float64) {
	f := result.NewFinding(result.Drifts, "not steady").With("drift_pct", percent)
	r.Findings = []result.Finding{f}
}

// TestCannotTell is not confident of runs that still warm up, however little they vary, and of no
// gate on them.
func TestCannotTell(t *testing.T) {
	drift := func(runs int, percent float64) func(hdd, ssd *compare.Configuration) {
		return func(hdd, ssd *compare.Configuration) {
			for i := range runs {
				drifting(&ssd.Runs[i], percent+float64(i))
			}
		}
	}
	as := func(hdd, ssd *compare.Configuration) {}
	const (
		faster  = "ssd completed 5.33 × as many orders as hdd; 95 % between 5.24 × and 5.42 ×"
		none    = "No difference found between ssd and hdd: it lies between -2.0 % and +1.6 %"
		warming = "Cannot tell ssd from hdd: still warming up"
	)
	for _, c := range []struct {
		why        string
		slow, fast float64 // reads per order
		change     func(hdd, ssd *compare.Configuration)
		headline   string
		note       string
		gate       compare.Outcome
	}{
		{"steady runs", 16, 16, as, faster, "OPM of ssd is 5.33 × that of hdd", compare.GateFailed},
		{
			"two of five warm up", 16, 16, drift(2, 27),
			faster + "; not conclusive, as the rate drifted in 2 of 5 runs of ssd",
			"2 of 5 runs of ssd (", compare.GateOpen,
		},
		{"three of five do", 16, 16, drift(3, 27), warming, "3 of 5 valid runs drift the same way, " +
			"by +27 % to +29 % over the window. A longer warm-up helps (--warmup-time).", compare.GateOpen},
		{
			"they slow down", 16, 16, drift(5, -30),
			"Cannot tell ssd from hdd: still slowing down", "by -30 % to -26 %", compare.GateOpen,
		},
		{
			"some fall and some rise", 16, 16, func(_, ssd *compare.Configuration) {
				for i, d := range []float64{20, -20, 20, -20} {
					drifting(&ssd.Runs[i], d)
				}
			}, faster + "; not conclusive, as the rate drifted in 4 of 5 runs of ssd",
			"4 of 5 runs of ssd (", compare.GateOpen,
		},
		{
			"one of equal caches fills earlier", 16, 6, as,
			"Cannot tell ssd from hdd: caches not filled alike",
			"0.36 × as often from the drives per order as those of hdd", compare.GateOpen,
		},
		{"but nothing waits for storage", 16, 6, func(hdd, ssd *compare.Configuration) {
			for i := range 5 {
				hdd.Runs[i].Bottleneck = diagnose.CPU
				ssd.Runs[i].Bottleneck = diagnose.CPU
			}
		}, faster, "", compare.GateFailed},
		{
			"runs that vary too much to show half as much again", 16, 16, opmOfRuns(300, 4000, 900, 2500, 1500),
			"Cannot tell ssd from hdd: the runs vary too much", "; these runs only show that it lies between " +
				"-60 % and +360 %: more blocks or longer runs show more.", compare.GateOpen,
		},
		{
			"runs that vary little, and differ less", 16, 16, opmOfRuns(1010, 1000, 1000, 1020, 985),
			none, "", compare.GatePassed,
		},
		{"alike, but one takes half the power", 16, 16, func(hdd, ssd *compare.Configuration) {
			opmOfRuns(1010, 1000, 1000, 1020, 985)(hdd, ssd)
			for i := range 5 {
				hdd.Runs[i].Active = new(400 + float64(i))
				ssd.Runs[i].Active = new(200 + float64(i))
				hdd.Runs[i].Figure.PerWatt = new(2.5 + float64(i)/100)
				ssd.Runs[i].Figure.PerWatt = new(5 + float64(i)/100)
			}
		}, none + "; but OPM per watt of ssd: +99.2 %", "", compare.GatePassed},
		{
			"two runs of no orders", 16, 16, opmOfRuns(5300, 0, 5350, 0, 5410),
			"Cannot tell ssd from hdd: runs of zero", "OPM: it is 0 in 2 of 5 runs of ssd.", compare.GateOpen,
		},
		{
			"runs of no orders", 16, 16, opmOfRuns(0, 0, 0, 0, 0),
			"Cannot tell ssd from hdd: runs of zero", "OPM: it is 0 in 5 of 5 runs of ssd.", compare.GateOpen,
		},
		{"caches that hardly differ", 16, 15.5, as, faster, "", compare.GateFailed},
	} {
		hdd, ssd := arrays(c.slow, c.fast)
		c.change(&hdd, &ssd)
		compared := comparison{compare.WithFirst([]compare.Configuration{hdd, ssd})}
		// an interval that cannot tell is far from this
		for _, text := range []string{"opm > 10%", "opm < -99.99 %"} {
			gate, err := limit.ParseGate(text)
			require.NoError(t, err)
			require.NoError(t, compared.Judge(gate))
		}
		text := told(t, Comparison(compared.Comparison))
		tells := !strings.HasPrefix(c.headline, "Cannot tell") &&
			!strings.Contains(c.headline, inconclusive)
		open := compared.Gates[1].Outcome == compare.GateOpen
		assert.Equal(t, !tells, open, "%s: a gate far beyond the interval", c.why)
		headline, _, _ := strings.Cut(compared.view().Headline, "; an estimate is ")
		assert.Equal(t, c.headline, headline, c.why)
		assert.Contains(t, texttest.Flat(text), c.note, c.why)
		assert.Equal(t, c.gate, compared.Gates[0].Outcome, c.why)
		charts, err := compared.charts("compare", compared.Configurations)
		require.NoError(t, err)
		found := tells && strings.Contains(c.headline, "completed")
		for _, l := range charts[0].Lines {
			require.False(
				t,
				l.Wide && l.Faint == found,
				"%s: a column looks like a result: %t",
				c.why,
				!l.Faint,
			)
		}
		require.Equal(
			t,
			tells,
			!strings.Contains(text, inconclusive),
			"%s: figures are called estimates",
			c.why,
		)
	}
}

// opmOfRuns gives the runs of the second array these OPM.
func opmOfRuns(opm ...float64) func(hdd, ssd *compare.Configuration) {
	return func(_, ssd *compare.Configuration) {
		for i, v := range opm {
			ssd.Runs[i].Headline = opmOfRun(v, v/100)
		}
	}
}

// TestBestFirst: of three configurations the headline has the one that differs most, either way.
func TestBestFirst(t *testing.T) {
	hdd, ssd := arrays(16, 16)
	same := benchOf("same", diagnose.Storage, 5310, 5410, 5340, 5300, 5400)
	c := comparison{compare.WithFirst([]compare.Configuration{ssd, same, hdd})}
	assert.Contains(t, c.sentence(), "hdd completed 81.2")
}

// TestRateSet: where the user set the rate, of transactions or of I/Os, the result is what was
// asked for: response times are compared, and no gate on the result passes.
func TestRateSet(t *testing.T) {
	offered := func(c *compare.Configuration) { c.Rate = 90 }
	paced := func(c *compare.Configuration) {
		for i := range c.Runs {
			set := result.NewFinding(result.RateSet, "I/Os").With("rate", 90)
			c.Runs[i].Findings = append(c.Runs[i].Findings, set)
		}
	}
	t.Run("--rate", func(t *testing.T) { comparesTimes(t, offered) })
	t.Run("--iops-per-mailbox", func(t *testing.T) { comparesTimes(t, paced) })
}

// comparesTimes asserts that benches whose rate is set by the flag that the test is named by are
// compared by their response times.
func comparesTimes(t *testing.T, setRate func(*compare.Configuration)) {
	flag := filepath.Base(t.Name())
	for _, slower := range []float64{1, 2} {
		a := benchOf("a", diagnose.Storage, 5310, 5410, 5340, 5300, 5400)
		b := benchOf("b", diagnose.Storage, 5311, 5409, 5341, 5301, 5399)
		for i := range 5 {
			*b.Runs[i].P95 *= slower
		}
		setRate(&a)
		setRate(&b)
		c := comparison{compare.WithFirst([]compare.Configuration{a, b})}
		gate, err := limit.ParseGate("opm < -5 %")
		require.NoError(t, err)
		require.NoError(t, c.Judge(gate))
		require.Equal(t, compare.GateOpen, c.Gates[0].Outcome)
		require.Contains(t, c.Gates[0].Why, "the user set it ("+flag+")")
		want := "At the rate that was set, no difference in order p95 found between b and a"
		if slower > 1 {
			want = "At the rate that was set, the order p95 of b is 2.00 × that of a; 95 % between 1.97 × and 2.03 ×"
		}
		require.Contains(t, c.sentence(), want)
		require.NotContains(t, told(t, Comparison(c.Comparison)), "OPM of b")
	}
}

// TestBounds: a figure of which only a lower bound is known has no difference with an interval, and
// opens a gate.
func TestBounds(t *testing.T) {
	hdd, ssd := arrays(16, 16)
	for i := range 5 {
		hdd.Runs[i].P95 = new(100 + float64(i))
		ssd.Runs[i].P95 = new(50 + float64(i))
	}
	judged := func() compare.Outcome {
		c := compare.WithFirst([]compare.Configuration{hdd, ssd})
		gate, err := limit.ParseGate("order p95 > 10 %")
		require.NoError(t, err)
		require.NoError(t, c.Judge(gate))
		return c.Gates[0].Outcome
	}
	hdd.Words.Cycle = "order"
	ssd.Words.Cycle = "order"
	assert.Equal(t, compare.GatePassed, judged())
	ssd.Runs[2].P95AtLeast = true
	assert.Equal(t, compare.GateOpen, judged())
	assert.Contains(
		t,
		told(t, Comparison(compare.WithFirst([]compare.Configuration{hdd, ssd}))),
		"at least 52",
	)
}

// TestHeadline takes the largest difference that was found, also where one that was not found is
// larger; and with factors that of configurations at equal values.
func TestHeadline(t *testing.T) {
	hdd, ssd := arrays(16, 16)
	opmOfRuns(1080, 1101, 1069, 1091, 1085)(nil, &ssd)
	_, noisy := arrays(16, 16)
	noisy.Name = "nvme"
	opmOfRuns(900, 1450, 950, 1300, 1000)(nil, &noisy)
	c := comparison{compare.WithFirst([]compare.Configuration{hdd, noisy, ssd})}
	assert.Greater(t, c.Of("nvme", compare.Main).Percent, c.Of("ssd", compare.Main).Percent)
	assert.Equal(t, "ssd completed 8.0 % more orders than hdd; 95 % between 5.9 % and 10.1 %",
		strings.ReplaceAll(c.sentence(), "+", ""))
	opmOfRuns(1010, 1040, 980, 1030, 1000)(nil, &noisy)
	none := compare.WithFirst([]compare.Configuration{hdd, noisy, hdd})
	assert.Contains(t, comparison{none}.sentence(),
		"No difference from hdd found: that of nvme, the largest, lies between -")
	c.Equal = []compare.Equal{
		{Difference: *c.Of("ssd", compare.Main), Factors: []string{"threads"}},
	}
	assert.Contains(t, c.sentence(), "more orders than hdd at equal threads; 95 % between")
}

// TestMildDoubts: what leaves the figures is said in a clause of its own.
func TestMildDoubts(t *testing.T) {
	for kind, says := range map[result.FindingKind]string{
		result.Unlike:           "they were not tested alike",
		result.RunsUnlike:       "the runs of ssd were not made alike",
		result.Drifts:           "the rate drifted in the run of ssd",
		result.DevicesElsewhere: "drives were observed that do not hold the files of ssd",
	} {
		hdd, ssd := arrays(16, 16)
		c := comparison{compare.WithFirst([]compare.Configuration{hdd, ssd})}
		doubt := result.NewFinding(kind, "")
		doubt.Configuration = "ssd"
		if kind == result.Unlike {
			doubt.Against = "hdd"
		}
		c.Findings = append(c.Findings, doubt)
		assert.True(t, strings.HasSuffix(c.sentence(), "; not conclusive, as "+says), c.sentence())
	}
}

// TestCaptionWithoutUnit: a count has no unit, and nothing stands after its title.
func TestCaptionWithoutUnit(t *testing.T) {
	assert.Equal(t, "Queues of the drives", chart{Title: "Queues of the drives"}.Figures().Caption)
}

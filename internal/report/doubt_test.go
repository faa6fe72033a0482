package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/diagnose"
	"ds2/internal/texttest"
)

// arrays are a slow and a fast one, of which each read so many times for an order, give or take a little.
func arrays(slow, fast float64) (hdd, ssd Configuration) {
	hdd, ssd = benchOf("hdd", diagnose.Storage, 1000, 1020, 990, 1010, 1005),
		benchOf("ssd", diagnose.Storage, 5300, 5420, 5350, 5290, 5410)
	for i := range 5 {
		hdd.Runs[i].Costs.Reads, ssd.Runs[i].Costs.Reads = new(slow*(1+float64(i)/100)), new(fast*(1-float64(i)/100))
	}
	return hdd, ssd
}

// TestCannotTell is not confident of runs that still warm up, however little they scatter, and of no gate on them.
func TestCannotTell(t *testing.T) {
	drift := func(runs int, percent float64) func(hdd, ssd *Configuration) {
		return func(hdd, ssd *Configuration) {
			for i := range runs {
				ssd.Runs[i].Drift = new(percent + float64(i))
			}
		}
	}
	as := func(hdd, ssd *Configuration) {}
	const (
		faster  = "ssd completed 5.33 × the orders of hdd; 95 % between 5.24 × and 5.42 ×"
		none    = "No difference found between ssd and hdd; one larger than about 2.5 % would have been seen"
		warming = "Cannot tell ssd from hdd: still warming up"
	)
	for _, c := range []struct {
		why        string
		slow, fast float64 // reads an order
		change     func(hdd, ssd *Configuration)
		headline   string
		note       string
		gate       Outcome
	}{
		{"steady runs", 16, 16, as, faster, "OPM of ssd is 5.33 × that of hdd", GateFailed},
		{"two of five warm up", 16, 16, drift(2, 27), faster, "", GateFailed},
		{"three of five do", 16, 16, drift(3, 27), warming, "3 of the 5 runs of ssd that count drift the same way, " +
			"by +27 % to +29 % over the window. A longer warm-up helps (--warmup-time).", GateOpen},
		{"they slow down", 16, 16, drift(5, -30),
			"Cannot tell ssd from hdd: still slowing down", "by -30 % to -26 %", GateOpen},
		{"some fall and some rise", 16, 16, func(_, ssd *Configuration) {
			for i, d := range []float64{20, -20, 20, -20} {
				ssd.Runs[i].Drift = &d
			}
		}, faster, "", GateFailed},
		{"one of equal caches fills earlier", 16, 6, as, warming,
			"0.36 × as often from the drives for an order as those of hdd", GateOpen},
		{"but nothing waits for storage", 16, 6, func(hdd, ssd *Configuration) {
			for i := range 5 {
				hdd.Runs[i].Bottleneck, ssd.Runs[i].Bottleneck = diagnose.CPU, diagnose.CPU
			}
		}, faster, "", GateFailed},
		{"runs that scatter too much to show half as much again", 16, 16, opmOfRuns(300, 4000, 900, 2500, 1500),
			"Cannot tell ssd from hdd: the runs scatter too much", "; these runs could only have shown a difference " +
				"of about +430 %: more blocks or longer runs show smaller ones.", GateOpen},
		{"runs that scatter little, and differ less", 16, 16, opmOfRuns(1010, 1000, 1000, 1020, 985),
			none, "", GatePassed},
		{"alike, but one takes half the power", 16, 16, func(hdd, ssd *Configuration) {
			opmOfRuns(1010, 1000, 1000, 1020, 985)(hdd, ssd)
			for i := range 5 {
				hdd.Runs[i].Active, ssd.Runs[i].Active = new(400+float64(i)), new(200+float64(i))
				hdd.Runs[i].Figure.PerWatt, ssd.Runs[i].Figure.PerWatt = new(2.5+float64(i)/100), new(5+float64(i)/100)
			}
		}, none + "; but OPM per watt of ssd: +99.2 %", "", GatePassed},
		{"two runs of no orders", 16, 16, opmOfRuns(5300, 0, 5350, 0, 5410),
			"Cannot tell ssd from hdd: ssd had runs of 0 OPM", "OPM: it is 0 in 2 of 5 runs of ssd.", GateOpen},
		{"runs of no orders", 16, 16, opmOfRuns(0, 0, 0, 0, 0),
			"Cannot tell ssd from hdd: ssd had runs of 0 OPM", "OPM: it is 0 in 5 of 5 runs of ssd.", GateOpen},
		{"caches that hardly differ", 16, 15.5, as, faster, "", GateFailed},
	} {
		hdd, ssd := arrays(c.slow, c.fast)
		c.change(&hdd, &ssd)
		comparison := Compare([]Configuration{hdd, ssd})
		for _, text := range []string{"opm > 10%", "opm < -99.99 %"} { // an interval that cannot tell is far from this
			gate, err := ParseGate(text)
			require.NoError(t, err)
			require.NoError(t, comparison.Judge(gate))
		}
		text := told(t, comparison.Page())
		tells := !strings.HasPrefix(c.headline, "Cannot tell")
		open := comparison.Gates[1].Outcome == GateOpen
		assert.Equal(t, !tells, open, "%s: a gate far beyond the interval", c.why)
		assert.Equal(t, c.headline, comparison.view().Headline, c.why)
		assert.Contains(t, texttest.Flat(text), c.note, c.why)
		assert.Equal(t, c.gate, comparison.Gates[0].Outcome, c.why)
		charts, err := comparison.charts("compare", comparison.Configurations)
		require.NoError(t, err)
		found := strings.Contains(c.headline, "completed")
		for _, l := range charts[0].Lines {
			require.False(t, l.Wide && l.Faint == found, "%s: a column looks like a result: %t", c.why, !l.Faint)
		}
		require.Equal(t, tells, !strings.Contains(text, doesNotCount), "%s: figures are called estimates", c.why)
	}
}

// opmOfRuns gives the runs of the second array these OPM.
func opmOfRuns(opm ...float64) func(hdd, ssd *Configuration) {
	return func(_, ssd *Configuration) {
		for i, v := range opm {
			ssd.Runs[i].Headline = opmOfRun(v, v/100)
		}
	}
}

// TestBestFirst: of three configurations the headline has the one that differs most, either way.
func TestBestFirst(t *testing.T) {
	hdd, ssd := arrays(16, 16)
	same := benchOf("same", diagnose.Storage, 5310, 5410, 5340, 5300, 5400)
	assert.Contains(t, Compare([]Configuration{ssd, same, hdd}).sentence(), "hdd completed 81.2")
}

// TestBounds: a figure of which only a lower bound is known has no difference with an interval, and opens a gate.
func TestBounds(t *testing.T) {
	hdd, ssd := arrays(16, 16)
	for i := range 5 {
		hdd.Runs[i].P95, ssd.Runs[i].P95 = new(100+float64(i)), new(50+float64(i))
	}
	judged := func() Outcome {
		c := Compare([]Configuration{hdd, ssd})
		gate, err := ParseGate("order p95 > 10 %")
		require.NoError(t, err)
		require.NoError(t, c.Judge(gate))
		return c.Gates[0].Outcome
	}
	hdd.Words.Cycle, ssd.Words.Cycle = "order", "order"
	assert.Equal(t, GatePassed, judged())
	ssd.Runs[2].P95AtLeast = true
	assert.Equal(t, GateOpen, judged())
	assert.Contains(t, told(t, Compare([]Configuration{hdd, ssd}).Page()), "at least 52")
}

// TestParts: the ratio of results is that of I/Os a second by that of I/Os an order.
func TestParts(t *testing.T) {
	hdd, ssd := arrays(16, 6)
	p := Compare([]Configuration{hdd, ssd}).Parts
	require.Len(t, p, 1)
	assert.InDelta(t, 5.33, p[0].Ratio, .01)
	assert.InDelta(t, .5033, p[0].IOsPerCycle, .0005)
	assert.InDelta(t, 2.681, p[0].IORate, .002)
	for i := range hdd.Runs {
		hdd.Runs[i].Costs = nil
	}
	assert.Nil(t, Compare([]Configuration{hdd, ssd}).Parts, "parts of what nobody counted")
}

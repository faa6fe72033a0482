package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// TestInOrder: a bench each of whose runs is slower than the one before tells nothing, unless it
// was made in blocks, where all configurations have the drift.
func TestInOrder(t *testing.T) {
	falling := configuration("a", diagnose.Storage, 1000, 990, 981, 970, 962, 950)
	doubt := func(c Configuration) *result.Finding {
		return result.FindingOf(Findings(c.Bench), result.InOrder)
	}
	require.NotNil(t, doubt(falling))
	assert.Equal(t, "the results of the valid runs fall one after the other, "+
		"from 1000 to 950 OPM (p = 0.0028, significant at 0.02)", doubt(falling).Words())
	assert.Nil(t, doubt(configuration("a", diagnose.Storage, 1000, 990, 995, 970, 1005, 950)))
	for i := range falling.Runs {
		falling.Runs[i].Block = i + 1
	}
	assert.Nil(t, doubt(falling), "in blocks")
}

// TestSharedBias: benches whose runs vary less from one to the next than within, as windows at the
// same phase of a checkpoint cycle do, differ by no more than that.
func TestSharedBias(t *testing.T) {
	a := configuration("a", diagnose.Storage, 1000, 1001, 999, 1000, 1002)
	b := configuration("b", diagnose.Storage, 1030, 1031, 1029, 1030, 1032)
	of := func(half float64) Comparison {
		for _, c := range []*Configuration{&a, &b} {
			for i := range c.Runs {
				c.Runs[i].Figure.CI95 = new(half)
			}
			Runs(&c.Bench)
		}
		return WithFirst([]Configuration{a, b})
	}
	sure := of(1)
	assert.True(t, *sure.Of("b", Main).Significant)
	assert.Nil(t, result.FindingOf(sure.Findings, result.RunsShareError))
	unsure := of(50)
	assert.False(t, *unsure.Of("b", Main).Significant)
	assert.NotNil(t, result.FindingOf(unsure.Findings, result.RunsShareError))
	assert.Greater(t, *unsure.Configurations[0].RunsCI95, 50.)
	assert.Nil(t, unsure.Doubt("a", "b"))
	assert.NotNil(t, of(120).Doubt("a", "b"), "they still change: by 6 % within each")
}

// TestNarrowByLuck: the interval of a comparison in blocks is judged as it is stated, and what a lucky
// one hides by how the runs of each configuration vary.
func TestNarrowByLuck(t *testing.T) {
	wide := func(a, b []float64) string {
		both := []Configuration{
			configuration("a", diagnose.Storage, a...), configuration("b", diagnose.Storage, b...),
		}
		for i := range both {
			both[i].Experiment = "e"
			both[i].Status = result.Done
			for block := range both[i].Runs {
				both[i].Runs[block].Block = block + 1
				both[i].Runs[block].Number = 2*block + (i+block)%2
			}
			Runs(&both[i].Bench)
		}
		if f := result.FindingOf(WithFirst(both).Findings, result.WideInterval); f != nil {
			return f.Words()
		}
		return ""
	}
	assert.Empty(t, wide([]float64{1020, 980, 1020, 1000, 980, 1000},
		[]float64{980, 1000, 1000, 1020, 1020, 980}), "± 5 % and less, as it is")
	alike := []float64{1100, 900, 1100, 1000, 900, 1000}
	assert.Contains(t, wide(alike, alike), "of the result may be as wide as",
		"no difference varies, and the runs of both do")
}

// TestNotAllMade: of benches of which more runs are to come nothing is told by Welch's test.
func TestNotAllMade(t *testing.T) {
	a := configuration("a", diagnose.Storage, 1000, 1001, 999)
	b := configuration("b", diagnose.Storage, 1030, 1031, 1029)
	b.Status = result.Running
	b.Spec.Runs = 5
	d := WithFirst([]Configuration{a, b}).Of("b", Main)
	assert.Nil(t, d.Significant)
	assert.Equal(t, "the planned runs are not all made", d.Why)
	b.Spec.Runs = 3
	assert.NotNil(t, WithFirst([]Configuration{a, b}).Of("b", Main).Significant)
}

// TestPartialCycle: what a run says of its interval and its window stands above it, too.
func TestPartialCycle(t *testing.T) {
	var s result.Summary
	s.Windows = []measure.Window{
		{
			FewSamples: "few independent samples: 3 whole checkpoint cycles",
			Cycle: &measure.Cycle{
				Period:  new(300.),
				Periods: new(.7),
				Why:     "only part of a cycle",
			},
		},
	}
	var run result.BenchRun
	Take(&run, s)
	assert.NotNil(t, result.FindingOf(run.Findings, result.FewSamples))
	assert.NotNil(t, result.FindingOf(run.Findings, result.PartialCycle))
}

package compare

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// TestTake takes along all that was found of a run, also what was learnt after it.
func TestTake(t *testing.T) {
	var s result.Summary
	s.Status = result.Done
	s.Noticed = []result.Finding{result.NewFinding(result.IOErrors, "a log would be full")}
	s.Audit = &result.Audit{Checks: []result.Check{{}}}
	run := result.BenchRun{
		Findings: []result.Finding{result.NewFinding(result.Steady, "of before")},
	}
	Take(&run, s)
	assert.NotNil(t, result.FindingOf(run.Findings, result.IOErrors))
	assert.NotNil(t, result.FindingOf(run.Findings, result.AuditFailed))
	assert.Nil(t, result.FindingOf(run.Findings, result.Steady))
}

// TestAborted: no limit holds in a run that one ended, though its window lies before that.
func TestAborted(t *testing.T) {
	s := result.Summary{Conclusion: result.Conclusion{
		Headline: result.NewHeadline(&result.Figure{Unit: result.OPM, Value: 1}),
		Limits:   result.Verdicts{{Limit: "opm > 0", Measured: new(1.), OK: true}},
	}}
	for status, want := range map[result.Status]bool{
		result.Done: true, result.Interrupted: true, result.Running: true, result.Aborted: false,
	} {
		s.Status = status
		single := Single(s)
		assert.Equal(t, want, single.Limits.Passed(), "a run that is %s", status)
		assert.Equal(t, []any{status, true}, []any{single.Runs[0].Status, single.Runs[0].Counts})
	}
}

// TestAnyFigures: a bench of runs of whatever figures, unknown, zero or huge, is written and read
// again the same.
func TestAnyFigures(t *testing.T) {
	figures := []*float64{nil, new(0.), new(1e-12), new(1e15)}
	for i := range len(figures) * len(figures) * len(figures) {
		b := result.Bench{Status: result.Done, Spec: result.Spec{Runs: 3}}
		for k := range 3 {
			f := figures[[]int{i % 4, i / 4 % 4, i / 16}[k]]
			s := result.Summary{Happened: result.Happened{Status: result.Done}}
			s.Power = &result.Power{Idle: f, Active: f}
			if f != nil {
				figure := &result.Figure{
					Unit:    result.OPM,
					Value:   *f,
					CI95:    f,
					PerWatt: s.Power.PerWatt(*f),
				}
				s.Headline = result.NewHeadline(figure)
				s.Windows = []measure.Window{{OPM: *f, Latency: map[string]measure.Latency{
					measure.WholeOrder: {P95: *f},
				}, Steady: measure.Steadiness{Drift: *f}}}
			}
			run := result.BenchRun{Dir: string(rune('a' + k)), Status: result.Done}
			Take(&run, s)
			b.Runs = append(b.Runs, run)
		}
		Runs(&b)
		dir := filepath.Join(t.TempDir(), "bench")
		require.NoError(t, result.MakeDir(dir))
		require.NoError(t, result.SaveSummary(dir, b), "%d", i)
		read, err := result.ReadSummary[result.Bench](dir)
		require.NoError(t, err, "%d", i)
		assert.Equal(t, b.Runs, read.Runs, "%d", i)
		figures := func(b result.Bench) []any { return []any{b.Headline, b.RunsCI95, b.RunsSpread} }
		assert.Equal(t, figures(b), figures(read), "%d", i)
	}
}

// TestPowerOfMedianRun: power and what is made of it are those of the run with the median result,
// so that one divided by the other is the third.
func TestPowerOfMedianRun(t *testing.T) {
	c := configuration("a", "", 300, 322, 330)
	for i, watts := range []float64{110, 112, 116} {
		c.Runs[i].Active = &watts
		c.Runs[i].Figure.PerWatt = new(c.Runs[i].Figure.Value / watts)
	}
	Runs(&c.Bench)
	assert.Equal(t, 112., *c.Active)
	assert.Equal(t, 322./112, *c.Figure.PerWatt)
	c.Runs[0].Active, c.Runs[1].Active = c.Runs[1].Active, c.Runs[0].Active
	c.Runs[0].Figure.PerWatt = new(300. / 112)
	c.Runs[1].Figure.PerWatt = new(322. / 110)
	Runs(&c.Bench)
	active := MetricNamed("active_w")
	assert.Equal(t, 110., *active.Middle(c, false), "not the median of all, 112")
	assert.Equal(t, 322./110, *MetricNamed(PerWatt).Middle(c, false))
	low, high, several := active.Spread(c)
	assert.Equal(t, []any{110., 116., true}, []any{low, high, several})
}

package runs

import (
	"errors"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/limit"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/measure"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/sampling"
)

// TestAborted ends a run whose orders stand still at last: its whole window keeps the limit, and
// the run has failed it all the same. Where the server has died, too, there is nothing to audit,
// and no panic.
func TestAborted(t *testing.T) {
	t.Parallel()
	server, first := ready(t, localpg.Options{})
	s := first.Databases[0]
	for _, dies := range []bool{false, true} {
		o := options(t, s)
		o.AbortAfter.Duration = 2 * time.Second
		o.RunTime.Duration = 0 // until the limit ends it
		o.DrainTime.Duration = time.Second
		o.LimitTexts = []string{"opm > 1"}
		run := begin(t, o)
		ended := make(chan Outcome)
		var summary result.Summary
		go func() {
			var outcome Outcome
			summary, outcome = run.Execute(t.Context(), t.Context())
			ended <- outcome
		}()
		await(t, func() bool { return len(run.Verdicts()) > 0 }) // an interval with orders first
		lock, err := s.DB().BeginTx(t.Context(), nil)
		require.NoError(t, err)
		pgtest.Exec(t, lock, "LOCK TABLE orders, customers IN ACCESS EXCLUSIVE MODE")
		<-run.stop.Done()
		if dies {
			server.Kill()
		}
		lock.Rollback()
		assert.Equal(t, result.Aborted, (<-ended).Status, "dies %v", dies)
		assert.Equal(t, result.Aborted, summary.Status, "dies %v", dies)
		assert.True(t, summary.Limits.Passed(), "dies %v: %v", dies, summary.Limits)
		audit, err := run.Audit(t.Context(), progress.Ignore)
		assert.Equal(t, dies, err != nil, err)
		assert.Equal(t, dies, audit.NotAudited != "")
		assert.Equal(t, !dies, audit.Passed, "%+v", audit)
	}
}

// TestLimitsOfDevices judges a drive while the run goes on, by what was sampled of it in each
// interval: after two seconds in a row that are too slow the run ends, and not by seconds of which
// nothing is known.
func TestLimitsOfDevices(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	columns := []sampling.Column{
		{Name: "disk.sda.writes_per_second"},
		{Name: "disk.sda.write_seconds"},
	}
	source := sampling.Source{Name: "drive", Columns: columns}
	limits, err := limit.ParseAll([]string{"device write max < 50ms"})
	require.NoError(t, err)
	for _, c := range []struct {
		why     string
		observe bool
		latency []float64 // of each second; NaN: it wrote nothing
		ends    int       // the second that ends the run; 0: none
	}{
		{"slow once, then twice", true, []float64{0.06, 0.01, 0.06, 0.07, 0.01}, 4},
		{
			"a second without writes does not count", true,
			[]float64{0.06, math.NaN(), 0.06, 0.01},
			0,
		},
		{"not observed", false, []float64{0.06, 0.06, 0.06}, 0},
	} {
		w := limitJudge{limits: limits}
		w.run.AbortAfter.Duration = 2 * time.Second
		ended := 0
		o := &observation{start: start, sampler: sampling.NewSampler(slog.New(slog.DiscardHandler))}
		if c.observe {
			o.sampler = sampling.NewSampler(slog.New(slog.DiscardHandler), source)
		}
		for i, latency := range c.latency {
			from := time.Duration(i) * time.Second
			to := time.Duration(i+1) * time.Second
			writes := 100.0
			if math.IsNaN(latency) {
				writes = 0
			}
			o.keep(sampling.Row{Time: start.Add(to), Values: []float64{writes, latency}})
			one := measure.Counts{Orders: 1}
			w.samples = []measure.Sample{
				{End: to, Length: time.Second, Phase: measure.PhaseRun, Counts: one},
			}
			err := w.judgeInterval(measure.Interval{From: from, To: to}, o)
			require.True(t, err == nil || errors.Is(err, ErrLimits), "%v", err)
			if err != nil && ended == 0 {
				ended = i + 1
			}
		}
		assert.Equal(t, c.ends, ended, "%s: ended after second", c.why)
	}
}

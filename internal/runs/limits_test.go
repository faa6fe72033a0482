package runs

import (
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/limit"
	"ds2/internal/localpg"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/progress"
	"ds2/internal/result"
)

// TestLimits has limits that hold and limits that cannot, and ends a run early by the latter.
func TestLimits(t *testing.T) {
	t.Parallel()
	_, s := loaded(t, localpg.Options{})
	for _, c := range []struct {
		why        string
		limits     []string
		abortAfter time.Duration
		verdicts   string // one letter each
		aborted    bool
	}{
		{"limits that hold", []string{"order p95 < 10m", "errors < 50%"}, 2 * time.Second, "PP", false},
		{"a limit that fails is told at the end", []string{"order p95 < 10m", "purchase mean < 1us", "opm > 1"}, 0, "PFP", false},
		{"a limit that fails ends the run", []string{"purchase mean < 1us", "device read mean < 1m"}, 2 * time.Second, "FF", true},
		{"what is not measured fails, but ends nothing", []string{"device read mean < 1m"}, 2 * time.Second, "F", false},
	} {
		t.Run(c.why, func(t *testing.T) {
			o := options(t, s)
			o.AbortAfter, o.Driver.Run = c.abortAfter, 0 // until stopped
			var err error
			if o.Limits, err = limit.ParseAll(c.limits); err != nil {
				t.Fatal(err)
			}
			run := begin(t, o)
			summary, err := driveUntil(t, run, func() {
				if c.aborted {
					<-run.stop.Done()
					return
				}
				later(t.Context(), run, 3*time.Second)
				moreOrders(t.Context(), run, 1)
			})
			if (summary.Status == result.Aborted) != c.aborted || (summary.Status == result.Done) == c.aborted {
				t.Fatalf("Drive = %v, status %s", err, summary.Status)
			}
			if c.aborted && !strings.Contains(summary.Error, " on end: purchase mean < 1us (measured ") {
				t.Errorf("status %s: %s", summary.Status, summary.Error)
			}
			record, err := result.Read(o.Dir)
			require.NoError(t, err)
			got := ""
			for _, v := range record.Limits {
				got += v.String()[:1]
			}
			if got != c.verdicts {
				t.Errorf("verdicts %s, want %s: %v", got, c.verdicts, record.Limits)
			}
		})
	}
}

// TestAborted ends a run whose orders stand still at last: its whole window keeps the limit, and the run has failed it
// all the same. Where the server has died, too, there is nothing to audit, and no panic.
func TestAborted(t *testing.T) {
	t.Parallel()
	server, s := loaded(t, localpg.Options{})
	for _, dies := range []bool{false, true} {
		o := options(t, s)
		o.AbortAfter = 2 * time.Second
		o.Driver.Run = 0 // until the limit ends it
		o.Driver.Drain = time.Second
		var err error
		if o.Limits, err = limit.ParseAll([]string{"opm > 1"}); err != nil {
			t.Fatal(err)
		}
		run := begin(t, o)
		ended := make(chan Outcome)
		var summary result.Summary
		go func() {
			var outcome Outcome
			summary, outcome = run.Drive(t.Context(), t.Context())
			ended <- outcome
		}()
		for len(run.Verdicts()) == 0 { // an interval with orders first
			time.Sleep(50 * time.Millisecond)
		}
		lock, err := s.DB().BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = lock.Exec("LOCK TABLE orders, customers IN ACCESS EXCLUSIVE MODE")
		require.NoError(t, err)
		<-run.stop.Done()
		if dies {
			server.Kill()
		}
		lock.Rollback()
		outcome := <-ended
		if outcome.Status != result.Aborted || summary.Status != result.Aborted || !limit.Passed(summary.Limits) {
			t.Errorf("dies %v: outcome %+v, status %s, limits %v", dies, outcome, summary.Status, summary.Limits)
		}
		audit, err := run.Audit(t.Context(), progress.Ignore)
		if dies != (err != nil) || dies != (audit.NotAudited != "") || audit.Passed == dies {
			t.Errorf("dies %v: audit %+v, %v", dies, audit, err)
		}
	}
}

// TestLimitsOfDevices judges a drive while the run goes on, by what was sampled of it in each interval: after two
// seconds in a row that are too slow the run ends, and not by seconds of which nothing is known.
func TestLimitsOfDevices(t *testing.T) {
	limits, err := limit.ParseAll([]string{"device write max < 50ms"})
	require.NoError(t, err)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	drive := monitor.Source{Name: "drive", Columns: []monitor.Column{{Name: "disk.sda.writes_per_second"}, {Name: "disk.sda.write_seconds"}}}
	for _, c := range []struct {
		why     string
		observe bool
		latency []float64 // of each second; NaN: it wrote nothing
		ends    int       // the second that ends the run; 0: none
	}{
		{"slow once, then twice", true, []float64{0.06, 0.01, 0.06, 0.07, 0.01}, 4},
		{"a second without writes does not count", true, []float64{0.06, math.NaN(), 0.06, 0.01}, 0},
		{"nobody observes", false, []float64{0.06, 0.06, 0.06}, 0},
	} {
		w, ended := limitJudge{limits: limits, abortAfter: 2 * time.Second}, 0
		var o *observation
		if c.observe {
			o = &observation{start: start, sampler: monitor.NewSampler(slog.New(slog.DiscardHandler), drive)}
		}
		for i, latency := range c.latency {
			from, to := time.Duration(i)*time.Second, time.Duration(i+1)*time.Second
			writes := 100.0
			if math.IsNaN(latency) {
				writes = 0
			}
			if o != nil {
				o.keep(monitor.Row{Time: start.Add(to), Values: []float64{writes, latency}})
			}
			w.sample(measure.Sample{End: to, Length: time.Second, Phase: measure.PhaseRun, Counts: measure.Counts{Orders: 1}})
			counters, begin := o.since(from)
			err := w.over(measure.Interval{From: from, To: to}, counters, begin)
			require.True(t, err == nil || errors.Is(err, ErrLimits), "%v", err)
			if err != nil && ended == 0 {
				ended = i + 1
			}
		}
		assert.Equal(t, c.ends, ended, "%s: ended after second", c.why)
	}
}

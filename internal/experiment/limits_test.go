package experiment

import (
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"ds2/internal/limit"
	"ds2/internal/localpg"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// TestLimits has limits that hold and limits that cannot, and ends a run early by the latter.
func TestLimits(t *testing.T) {
	_, s := loaded(t, localpg.Options{})
	for _, c := range []struct {
		why        string
		limits     []string
		abortAfter time.Duration
		verdicts   string // one letter each
		aborted    bool
	}{
		{"limits that hold", []string{"order p95 < 10m", "errors < 50%", "opm > 1"}, 2 * time.Second, "PPP", false},
		{"a limit that fails is told at the end", []string{"order p95 < 10m", "purchase mean < 1us"}, 0, "PF", false},
		{"a limit that fails ends the run", []string{"purchase mean < 1us", "device read mean < 1m"}, 2 * time.Second, "FF", true},
		{"what is not measured fails, but ends nothing", []string{"device read mean < 1m"}, 2 * time.Second, "F", false},
	} {
		t.Run(c.why, func(t *testing.T) {
			o := options(t, s)
			o.AbortAfter = c.abortAfter
			if c.aborted {
				o.Driver.Run = time.Minute // a busy machine may take some seconds to notice
			}
			var err error
			if o.Limits, err = limit.ParseAll(c.limits); err != nil {
				t.Fatal(err)
			}
			run, err := Begin(o)
			if err != nil {
				t.Fatal(err)
			}
			summary, err := run.Drive(t.Context(), nil)
			if errors.Is(err, ErrLimits) != c.aborted || err != nil && !c.aborted {
				t.Fatalf("Drive = %v", err)
			}
			if ran := summary.Phases[len(summary.Phases)-1].To; c.aborted != (ran < o.Driver.Run.Seconds()) {
				t.Errorf("the run took %v s", ran)
			}
			if c.aborted && (summary.Status != result.Failed || !strings.Contains(summary.Error, " on end: purchase mean < 1us (measured ")) {
				t.Errorf("status %s: %s", summary.Status, summary.Error)
			}
			record, err := result.Read(o.Dir)
			if err != nil {
				t.Fatal(err)
			}
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

// TestLimitsOfDevices judges a drive while the run goes on, by what was sampled of it in each interval: after two seconds
// in a row that are too slow the run ends, and not by seconds of which nothing is known.
func TestLimitsOfDevices(t *testing.T) {
	limits, err := limit.ParseAll([]string{"device write max < 50ms"})
	if err != nil {
		t.Fatal(err)
	}
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
			if err != nil && !errors.Is(err, ErrLimits) {
				t.Fatal(err)
			}
			if err != nil && ended == 0 {
				ended = i + 1
			}
		}
		if ended != c.ends {
			t.Errorf("%s: ended after second %d, want %d", c.why, ended, c.ends)
		}
	}
}

package experiment

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ds2/internal/limit"
	"ds2/internal/result"
)

// TestLimits has limits that hold and limits that cannot, and ends a run early by the latter.
func TestLimits(t *testing.T) {
	_, s := loaded(t, nil)
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
			if ran := summary.Phases[len(summary.Phases)-1].To; c.aborted != (ran < 6) {
				t.Errorf("the run took %v s", ran)
			}
			if c.aborted && (summary.Status != result.Failed || !strings.Contains(summary.Error, " on end: purchase mean < 1us (measured ")) {
				t.Errorf("status %s: %s", summary.Status, summary.Error)
			}
			if _, err := run.Judge(); err != nil {
				t.Fatal(err)
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

package runs

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ds2/internal/driver"
	"ds2/internal/localpg"
	"ds2/internal/progress"
	"ds2/internal/result"
)

// TestInterruptedAudit (E2): a run whose audit is interrupted keeps what it measured, and has not failed.
func TestInterruptedAudit(t *testing.T) {
	t.Parallel()
	_, s := loaded(t, localpg.Options{})
	o := options(t, s)
	o.Driver.Run = 2 * time.Second
	soft, interrupt := context.WithCancel(t.Context())
	c := Conduct{
		Audit: true, Locked: t.Context(), Tell: t.Logf,
		Show:     func(*Run) (func(result.Summary), error) { return func(result.Summary) { interrupt() }, nil },
		Progress: func(string, progress.Unit) (progress.Tell, func()) { return progress.Ignore, func() {} },
	}
	dir := filepath.Join(t.TempDir(), "run-1")
	got, faults, err := c.BenchRun(Stop{soft, t.Context()}, o)(t.Context(), dir, Place{Number: 1})
	if !errors.Is(err, driver.ErrStopped) || got.Status != result.Done || got.Figure == nil {
		t.Fatalf("%v: %+v", err, got)
	}
	assert.LessOrEqual(t, len(faults), 0, "faults are %q", faults)

	// Its audit is made later, unless somebody has been at work since.
	again := Stop{t.Context(), t.Context()}
	if faults, err := c.VerifyRecord(again, o, dir); err != nil || len(faults) > 0 {
		t.Errorf("audited later: %q, %v", faults, err)
	}
	if s, err := result.ReadSummary[result.Summary](dir); err != nil || s.Audit == nil || !s.Audit.Passed || s.Figure.Value != got.Figure.Value {
		t.Errorf("the record: %+v, %v", s.Audit, err)
	}
	o.Dir = filepath.Join(t.TempDir(), "another")
	run := begin(t, o)
	driven(t, run)
	if faults, err := c.VerifyRecord(again, o, dir); err != nil || len(faults) != 1 || !strings.Contains(faults[0], "has changed since") {
		t.Errorf("after another run: %q, %v", faults, err)
	}
}

// TestDeepCheckThatFails: a run whose databases cannot be read to the last page is still audited, and has what it
// measured.
func TestDeepCheckThatFails(t *testing.T) {
	t.Parallel()
	_, s := loaded(t, localpg.Options{})
	o := options(t, s)
	o.Driver.Run = time.Second
	c := Conduct{
		Audit: true, Deep: true, Locked: t.Context(), Tell: t.Logf,
		Restart:  func(context.Context) error { return errors.New("start command: exit status 1") },
		Show:     func(*Run) (func(result.Summary), error) { return func(result.Summary) {}, nil },
		Progress: func(string, progress.Unit) (progress.Tell, func()) { return progress.Ignore, func() {} },
	}
	dir := filepath.Join(t.TempDir(), "run-1")
	got, faults, err := c.BenchRun(Stop{t.Context(), t.Context()}, o)(t.Context(), dir, Place{Number: 1})
	if err != nil || got.Figure == nil || len(faults) != 1 || faults[0] != "not read to the last page: start command: exit status 1" {
		t.Errorf("faults %q, %v: %+v", faults, err, got.Figure)
	}
	if s, err := result.ReadSummary[result.Summary](dir); err != nil || s.Audit == nil || !s.Audit.Passed {
		t.Errorf("the record: %+v, %v", s.Audit, err)
	}
}

package runs

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/driver"
	"ds2/internal/localpg"
	"ds2/internal/result"
)

// TestInterruptedAudit (E2): a run whose audit is interrupted keeps what it measured, and has not
// failed.
func TestInterruptedAudit(t *testing.T) {
	t.Parallel()
	_, o := ready(t, localpg.Options{})
	o.RunTime.Duration = 2 * time.Second
	soft, interrupt := context.WithCancel(t.Context())
	c := conduct(t)
	c.Show = func(*Run) func(result.Summary) { return func(result.Summary) { interrupt() } }
	dir := filepath.Join(t.TempDir(), "run-1")
	got, err := c.BenchRun(Stop{soft, t.Context()}, o, dir, Place{Number: 1})
	require.ErrorIs(t, err, driver.ErrStopped)
	require.Equal(t, result.Done, got.Status)
	require.NotNil(t, got.Figure)

	// Its audit is made later, unless the database was used since.
	again := Stop{t.Context(), t.Context()}
	_, err = c.VerifyRecord(again, o, dir)
	require.NoError(t, err)
	passed(t, dir, got.Figure.Value)
	o.Dir = filepath.Join(t.TempDir(), "another")
	recorded(t, begin(t, o), nil)
	got, err = c.VerifyRecord(again, o, dir)
	require.NoError(t, err)
	require.Contains(t, notAudited(got), "has changed since")
}

// notAudited is why a run was not audited that was to be; empty where it was.
func notAudited(s result.Summary) string {
	f := result.FindingOf(s.Findings, result.AuditNotMade)
	return cmp.Or(f, new(result.Finding)).Detail
}

// passed asserts that a run has a record of an audit that passed, and its figure.
func passed(t *testing.T, dir string, figure float64) {
	t.Helper()
	s, err := result.ReadSummary[result.Summary](dir)
	require.NoError(t, err)
	require.NotNil(t, s.Audit)
	require.True(t, s.Audit.Passed, "%+v", s.Audit)
	require.Equal(t, figure, s.Figure.Value)
}

// TestDeepCheckThatFails: a run whose databases cannot be read to the last page is still audited,
// and has what it measured.
func TestDeepCheckThatFails(t *testing.T) {
	t.Parallel()
	_, o := ready(t, localpg.Options{})
	o.RunTime.Duration = time.Second
	c := conduct(t)
	o.Verify = result.VerifyDeep
	c.Restart = func(context.Context) error { return errors.New("start command: exit status 1") }
	dir := filepath.Join(t.TempDir(), "run-1")
	got, err := c.BenchRun(Stop{t.Context(), t.Context()}, o, dir, Place{Number: 1})
	require.NoError(t, err)
	unread := result.FindingOf(got.Findings, result.DeepCheckNotMade)
	require.NotNil(t, unread)
	require.Equal(t, "start command: exit status 1", unread.Detail)
	require.Equal(t, result.Fails, result.WorstEffect(got.Findings))
	passed(t, dir, got.Figure.Value)
}

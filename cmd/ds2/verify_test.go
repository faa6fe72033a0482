package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/result"
)

// heldAudit lets the next audits of a database wait until release: they count CATEGORIES, which no order touches.
func heldAudit(t *testing.T, target string) (waiting func() bool, release func()) {
	t.Helper()
	db := openDB(t, target)
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	if _, err := tx.Exec("LOCK TABLE categories"); err != nil {
		t.Fatal(err)
	}
	waiting = func() bool {
		return count(t, target, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'categories'::regclass") > 0 // orders do not read it
	}
	return waiting, func() { tx.Rollback() }
}

func count(t *testing.T, target, query string) (n int) {
	t.Helper()
	db := openDB(t, target)
	defer db.Close() // it is called until something is true
	require.NoError(t, db.QueryRow(query).Scan(&n))
	return n
}

// TestAuditLosesItsServer kills the server in the middle of the audit: the run's record stays, says why it was not
// audited, and is audited later.
func TestAuditLosesItsServer(t *testing.T) {
	t.Parallel()
	server, target := loadedServer(t)
	p := startProgram(t, "drive", "--target", target, "--threads", "2", "--warmup-time", "0", "--run-time", "2s", "--out", "run")
	p.start(t)
	p.await(t, "the first orders", func() bool { return count(t, target, "SELECT count(*) FROM orders") > 1_200 })
	waiting, release := heldAudit(t, target)
	p.await(t, "the audit", waiting)
	server.Kill()
	release()
	<-p.ended
	if code := p.ProcessState.ExitCode(); code != exitVerdict || !strings.Contains(p.stderr.String(), "not audited: ") {
		t.Fatalf("exit %d, %s", code, p.stderr.String())
	}
	dir := p.Dir + "/run"
	record, err := result.Read(dir)
	if err != nil || record.OPM == nil || record.Audit == nil || record.Audit.NotAudited == "" || record.Audit.Passed {
		t.Fatalf("record %+v, %v", record, err)
	}
	if code, stdout, _ := execute(t, "report", "--output", "text", dir); code != exitDone || !strings.Contains(stdout, "The database was not audited: ") {
		t.Errorf("report: exit %d, %s", code, stdout)
	}
	require.NoError(t, server.Restart(t.Context()))
	if code, stdout, stderr := execute(t, "verify", "--target", target, "--record", dir, "--quiet"); code != exitDone || !strings.Contains(stdout, "orders of the run: ") {
		t.Fatalf("verify: exit %d, %s%s", code, stdout, stderr)
	}
	if record, err = result.Read(dir); err != nil || !record.Audit.Passed || record.Audit.NotAudited != "" || len(record.Audit.Checks) < 27 {
		t.Errorf("the record's audit is %+v, %v", record.Audit, err)
	}
}

// TestVerifyInterrupted interrupts the audit in a statement that would go on: ds2 and the statement are gone at once.
func TestVerifyInterrupted(t *testing.T) {
	t.Parallel()
	_, target := loadedServer(t)
	waiting, release := heldAudit(t, target)
	defer release()
	p := startProgram(t, "verify", "--target", target)
	p.start(t)
	p.await(t, "the audit", waiting)
	require.NoError(t, p.Process.Signal(syscall.SIGINT))
	if !p.endsWithin(patience) || p.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("after an interrupt: %v, %s", p.ProcessState, p.stderr.String())
	}
	if waiting() {
		t.Error("the server goes on with the audit")
	}
}

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/result"
)

// TestAuditLosesItsServer kills the server in the middle of the audit: the run's record stays, says why it was not
// audited, and is audited later.
func TestAuditLosesItsServer(t *testing.T) {
	t.Parallel()
	server, target := loadedServer(t)
	p := startProgram(t, "drive", "--target", target, "--threads", "2", "--warmup-time", "0", "--run-time", "6s", "--out", "run")
	p.start(t)
	db := openDB(t, target)
	p.await(t, "the first orders", func() (are bool) {
		require.NoError(t, db.QueryRow("SELECT count(*) > 1200 FROM orders").Scan(&are))
		return are
	})
	tx, err := openDB(t, target).Begin()
	require.NoError(t, err)
	defer tx.Rollback()
	pgtest.Exec(t, tx, "LOCK TABLE categories") // which the audit counts, and orders do not read
	p.await(t, "the audit", func() (waits bool) {
		require.NoError(t, db.QueryRow("SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'categories'::regclass").Scan(&waits))
		return waits
	})
	server.Kill()
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

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
)

// TestAuditLosesItsServer has a server go down in the middle of the audit: the run's record stays, says why it was not
// audited, and is audited later.
func TestAuditLosesItsServer(t *testing.T) {
	t.Parallel()
	t.Run("it is killed", func(t *testing.T) {
		t.Parallel()
		server, target := loadedServer(t)
		loseServerAmidAudit(t, server, target, func() (string, func()) {
			server.Kill()
			return "", func() {}
		})
	})
	t.Run("its drive is full", func(t *testing.T) {
		t.Parallel()
		dir, grow := smallDrive(t, "200m", pgtest.Server(t).DataDir())
		fast := map[string]string{"fsync": "off"}
		server := pgtest.Start(t, localpg.Options{DataDir: filepath.Join(dir, "data"), Settings: fast})
		target := server.URL("ds2")
		must(t, "load", "--target", target, "--size", "1MB", "--quiet")
		loseServerAmidAudit(t, server, target, func() (string, func()) {
			err := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 200<<20), 0o600)
			require.ErrorIs(t, err, syscall.ENOSPC)
			db := openDB(t, target)
			for err = nil; err == nil; { // until the files of the log that there are have no room either
				_, err = db.Exec("SELECT pg_logical_emit_message(false, 'ds2', repeat('x', 1000000))")
			}
			return "are free on the server's file system that holds " + dir, func() { grow("400m") }
		})
	})
}

// loseServerAmidAudit loses the server of a run that is being audited, for a reason that is said, and mends that later.
func loseServerAmidAudit(t *testing.T, server *localpg.Server, target string, lose func() (why string, mend func())) {
	p := begin(t, words("drive --target %s --threads 2 --warmup-time 0 --run-time 6s --out out", target)...)
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
		const query = "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'categories'::regclass"
		require.NoError(t, db.QueryRow(query).Scan(&waits))
		return waits
	})
	why, mend := lose()
	p.ends(t, exitVerdict)
	require.Contains(t, p.stderr.String(), "not audited: ")
	require.Contains(t, p.stderr.String(), why)
	record := recordOf(t, p.out)
	require.True(t, record.OPM != nil && record.Audit != nil, "record %+v", record)
	require.True(t, record.Audit.NotAudited != "" && !record.Audit.Passed, "audit %+v", record.Audit)
	assert.Contains(t, must(t, "report", "--output", "text", p.out), "The database was not audited: ")
	mend()
	require.NoError(t, server.Restart(t.Context()))
	require.Contains(t, must(t, "verify", "--target", target, "--record", p.out, "--quiet"), "orders of the run: ")
	audit := recordOf(t, p.out).Audit
	assert.True(t, audit.Passed && audit.NotAudited == "" && len(audit.Checks) >= 27,
		"the record's audit is %+v", audit)
}

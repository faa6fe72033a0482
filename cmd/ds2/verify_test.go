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
	"ds2/internal/nightly"
	"ds2/internal/texttest"
)

// TestAuditLosesItsServer has a server go down for lack of room in the middle of the audit: the run's record stays,
// says why it was not audited, and is audited later.
func TestAuditLosesItsServer(t *testing.T) {
	nightly.Long(t, "makes a cluster on a drive")
	t.Parallel()
	dir, grow := smallDrive(t, "200m", pgtest.Server(t).DataDir())
	fast := map[string]string{"fsync": "off"}
	server := pgtest.Start(t, localpg.Options{DataDir: filepath.Join(dir, "data"), Settings: fast})
	target := server.URL("ds2")
	must(t, "load", "--target", target, "--size", "1MB", "--quiet")
	p := begin(t, words("drive --target %s --threads 2 --warmup-time 0 --run-time 6s --out out", target)...)
	db := openDB(t, target)
	pgtest.Await(t, db, "SELECT count(*) > 1200 FROM orders") // the first are the run's
	tx, err := openDB(t, target).Begin()
	require.NoError(t, err)
	defer tx.Rollback()
	pgtest.Exec(t, tx, "LOCK TABLE categories") // which the audit counts, and orders do not read
	pgtest.Await(t, db, "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'categories'::regclass")
	err = os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 200<<20), 0o600)
	require.ErrorIs(t, err, syscall.ENOSPC)
	for err = nil; err == nil; { // until the files of the log that there are have no room either
		_, err = db.Exec("SELECT pg_logical_emit_message(false, 'ds2', repeat('x', 1000000))")
	}
	p.ends(t, exitVerdict)
	texttest.Contains(t, p.stderr.String(), "not audited: ", "are free on the server's file system that holds "+dir)
	record := recordOf(t, p.out)
	require.True(t, record.OPM != nil && record.Audit != nil, "record %+v", record)
	require.True(t, record.Audit.NotAudited != "" && !record.Audit.Passed, "audit %+v", record.Audit)
	assert.Contains(t, must(t, "report", "--output", "text", p.out), "The database was not audited: ")
	grow("400m")
	require.NoError(t, server.Restart(t.Context()))
	require.Contains(t, must(t, "verify", "--target", target, "--record", p.out, "--quiet"), "orders of the run: ")
	audit := recordOf(t, p.out).Audit
	assert.True(t, audit.Passed && audit.NotAudited == "" && len(audit.Checks) >= 27,
		"the record's audit is %+v", audit)
}

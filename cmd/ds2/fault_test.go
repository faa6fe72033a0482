//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/nightly"
)

// TestServerKilled kills the server amid each test that reads its files or has it do work, and starts it again: at once
// where users would wait for it, else after ds2 has ended. ds2 says what was cut off, and leaves no process behind, no
// slot, no setting and no session.
func TestServerKilled(t *testing.T) {
	nightly.Long(t, "takes half a minute")
	t.Parallel()
	server, target := loadedServer(t)
	// So that a deep check has several readers at it.
	must(t, "load", "--target", target, "--size", "S", "--drop", "--quiet")
	db := openDB(t, target)
	db.SetMaxIdleConns(0)
	drive := func(more string) []string { return quick("drive", target, "--max-errors 1000 --quiet %s", more) }
	for _, c := range []struct {
		name string
		args []string
		amid string // true when the server is at it
		code int    // exitDone: users wait for the server
		says string
	}{
		{name: "checksum test", args: words("verify --target %s --deep --readers 4 --read-rate 500kB/s --quiet",
			target),
			amid: "SELECT count(*) >= 3 FROM pg_stat_activity WHERE query LIKE '%ds2_prewarm%' AND pid <> " +
				"pg_backend_pid()",
			code: exitFailed, says: "ds2: deep check "},
		{name: "scan", args: drive("--run-time 20s --scrub-rate 2MB/s"),
			amid: `SELECT count(*) > 0 FROM pg_stat_activity
				WHERE query LIKE '%pg_read_binary_file($1%' AND pid <> pg_backend_pid()`,
			code: exitDone, says: "the background scan of "},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := begin(t, c.args...)
			p.await(t, "the server to be at it", func() (is bool) {
				require.NoError(t, db.QueryRow(c.amid).Scan(&is))
				return is
			})
			server.Kill()
			if c.code == exitDone {
				require.NoError(t, server.Restart(t.Context()))
			}
			p.ends(t, c.code)
			assert.Contains(t, p.stdout.String()+p.stderr.String(), c.says)
			if c.code != exitDone {
				files, err := filepath.Glob("/proc/[0-9]*/cmdline")
				require.NoError(t, err)
				for _, file := range files {
					line, _ := os.ReadFile(file) // its process may have gone
					assert.NotContains(t, string(line), server.DataDir(), "a process is left, such as pg_waldump")
				}
				require.NoError(t, server.Restart(t.Context()))
			}
			const left = `SELECT (SELECT count(*) FROM pg_replication_slots) + (SELECT count(*) FROM pg_stat_activity
				WHERE pid <> pg_backend_pid() AND backend_type IN ('client backend', 'walsender'))`
			// A session ends a moment after its client.
			await(t, "an end of all slots, sessions and settings", func() (is bool) {
				require.NoError(t, db.QueryRow("SELECT 0 = ("+left+")").Scan(&is))
				return is
			})
		})
	}
	must(t, "verify", "--target", target, "--deep", "--quiet")
}

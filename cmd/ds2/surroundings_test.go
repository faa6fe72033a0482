package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/texttest"
)

// TestSurroundings has what a run is made in change in the middle of it: each change is on its
// first screen, and a run in which nothing changes has none.
func TestSurroundings(t *testing.T) {
	t.Parallel()
	server, target := loadedServer(t)
	db := pgtest.DB(t, target)
	other := pgtest.DB(t, server.URL("postgres"))
	exec := func(statements ...string) func(*program) {
		return func(*program) { pgtest.Exec(t, db, statements...) }
	}
	const changed = "before the run|database was loaded|other client|not answer|stood still"
	for _, c := range []struct {
		why    string
		before func(p *program)
		do     func(p *program) // in mid-run
		undo   func(p *program)
		says   []string
		first  string // on the first screen, by its beginning
		cause  string // of the bottleneck; empty: any
		change int    // in the record, at least
		long   bool
	}{
		{why: "nothing"},
		{
			why: "settings", do: exec("ALTER SYSTEM SET fsync = off", "ALTER SYSTEM SET full_page_writes = off",
				"ALTER DATABASE ds2 SET synchronous_commit = off", "ALTER FUNCTION ds2_login SET synchronous_commit = off",
				"SELECT pg_reload_conf()"),
			undo: exec("ALTER SYSTEM RESET ALL", "ALTER DATABASE ds2 RESET ALL", "ALTER FUNCTION ds2_login RESET ALL",
				"SELECT pg_reload_conf()"), change: 4,
			says: []string{
				`setting fsync was "on" before the run and "off" after it`, "setting full_page_writes was",
				"settings of role any and database ds2 was not there before the run",
				`"synchronous_commit=off" after it`, "function ds2_login(",
			},
		},
		{why: "a failed audit", before: func(*program) {
			// One of the run before.
			pgtest.Exec(
				t, db, "DELETE FROM cust_hist WHERE orderid = (SELECT max(orderid) FROM orders)",
			)
			pgtest.Counted(t, db) // before the run, which would take it for its own
			ends(t, exitVerdict, "verify", "--target", target, "--quiet")
		}, undo: func(*program) {
			noted := "SELECT count(*) FROM ds2_info WHERE name = 'failed_audit'"
			assert.Equal(
				t, 1, pgtest.Value[int](t, db, noted), "a run's own audit does not take it back",
			)
			must(t, "reset", "--target", target, "--quiet")
			assert.Zero(t, pgtest.Value[int](t, db, noted), "after a reset")
			pgtest.Exec(t, db, "INSERT INTO ds2_info VALUES ('failed_audit', 'orders')")
			must(t, "verify", "--target", target, "--quiet")
			assert.Zero(t, pgtest.Value[int](t, db, noted), "after the whole has passed")
		}, says: []string{"an audit of it failed before this run ("}},
		{why: "another client", do: func(*program) {
			pgtest.Exec(t, other,
				"DO $$BEGIN FOR i IN 1..200 LOOP PERFORM pg_sleep(.01); COMMIT; END LOOP; END$$")
			pgtest.Counted(t, other)
		}, says: []string{
			"Other clients worked on the server: database postgres committed ",
			"Other clients worked on the server in the window: on average ",
		}, long: true},
		{
			why: "a restart", do: func(*program) {
				server.Kill()
				time.Sleep(2500 * time.Millisecond) // whole seconds without an order
				require.NoError(t, server.Restart(t.Context()))
			}, says: []string{"its start was ", "The server did not answer from 0:0"},
			first: "Nothing was completed in", cause: "errors", change: 1, long: true,
		},
		{
			why: "a failover", before: func(*program) {
				pgtest.Exec(t, db, "ALTER SYSTEM SET restore_command = 'false'")
			}, do: func(*program) {
				server.Kill()
				signal := filepath.Join(server.DataDir(), "recovery.signal")
				require.NoError(t, os.WriteFile(signal, nil, 0o600))
				info, err := os.Stat(server.DataDir())
				require.NoError(t, err)
				require.NoError(t, os.Chown(signal, int(info.Sys().(*syscall.Stat_t).Uid), -1))
				time.Sleep(2500 * time.Millisecond)
				require.NoError(t, server.Restart(t.Context()))
			}, undo: exec("ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()"),
			says:  []string{"another server answers than before the run: timeline was", "its start was "},
			cause: "errors", change: 2, long: true,
		},
		{why: "a ds2 that is stopped", do: func(p *program) {
			p.Process.Signal(syscall.SIGSTOP)
			time.Sleep(4500 * time.Millisecond)
			p.Process.Signal(syscall.SIGCONT)
		}, says: []string{", ds2 itself stood still: "}, long: true},
		{
			why: "tables since the load", before: exec("ALTER TABLE cust_hist SET UNLOGGED",
				"ALTER TABLE orders DROP CONSTRAINT fk_customerid", "ALTER TABLE reorder SET (autovacuum_enabled = off)"),
			change: 3, says: []string{
				`table cust_hist is "unlogged"`,
				"constraint fk_customerid of orders was there", "autovacuum_enabled=off",
			},
		},
	} {
		t.Run(c.why, func(t *testing.T) {
			length := "2s"
			if c.long {
				nightly.Long(t, "drives for 6 s")
				length = "6s"
			}
			if c.before != nil {
				c.before(nil)
			}
			p := driving(
				t,
				quick("drive", target, "--run-time %s --max-errors 1000 --out out", length)...)
			if c.do != nil {
				c.do(p)
			}
			p.ends(t, map[bool]int{true: exitVerdict, false: exitDone}[c.cause != ""])
			if c.undo != nil {
				c.undo(p)
			}
			text := p.stdout.String()
			texttest.Contains(t, text, c.says...)
			record := recordOf(t, p.out)
			assert.GreaterOrEqual(t, len(record.Changes), c.change)
			if c.says == nil {
				assert.NotRegexp(t, changed, text)
				assert.Empty(t, record.Changes)
			}
			if c.first != "" {
				_, reasons, _ := strings.Cut(text, "\n- ")
				assert.True(t, strings.HasPrefix(reasons, c.first), text)
			}
			if c.cause != "" {
				assert.Equal(t, c.cause, record.Bottleneck.What)
				texttest.Contains(t, p.stderr.String(), "the server has not answered since ")
			}
		})
	}
}

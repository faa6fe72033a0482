//go:build unix

package main

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/result"
	"ds2/internal/texttest"
)

// TestSurroundings has what a run is made in change in the middle of it: each change is on its first screen, and a run
// in which nothing changes has none.
func TestSurroundings(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{})
	target := server.URL("ds2")
	must(t, "load", "--target", target, "--size", "1MB", "--quiet")
	db, other := openDB(t, target), openDB(t, server.URL("postgres"))
	exec := func(statements ...string) func(*program) {
		return func(*program) { pgtest.Exec(t, db, statements...) }
	}
	const changed = "before the run|when it was loaded|other client|did not answer|stood still"
	for _, c := range []struct {
		why    string
		do     func(p *program) // in mid-run
		undo   func(p *program)
		says   []string
		cause  string // of the bottleneck; empty: any
		change int    // in the record
	}{
		{why: "nothing"},
		{why: "settings", do: exec("ALTER SYSTEM SET fsync = off", "ALTER SYSTEM SET full_page_writes = off",
			"SELECT pg_reload_conf()"), undo: exec("ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()"), change: 2,
			says: []string{`setting fsync was "on" before the run and "off" after it`, "setting full_page_writes was"}},
		{why: "settings of the database", do: exec("ALTER DATABASE ds2 SET synchronous_commit = off"),
			undo: exec("ALTER DATABASE ds2 RESET ALL"), change: 1,
			says: []string{"settings of role any and database ds2 was not there before the run",
				`"synchronous_commit=off" after it`}},
		{why: "a function", do: exec("ALTER FUNCTION ds2_login SET synchronous_commit = off"),
			undo: exec("ALTER FUNCTION ds2_login RESET ALL"), change: 1, says: []string{"function ds2_login("}},
		{why: "another client", do: func(*program) {
			// The server counts them when they have gone on for a second.
			for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
				pgtest.Exec(t, other, "SELECT 1")
			}
		}, says: []string{"other clients worked on the server: database postgres committed "}},
		{why: "a restart", do: func(*program) {
			server.Kill()
			time.Sleep(2500 * time.Millisecond) // whole seconds without an order
			require.NoError(t, server.Restart(t.Context()))
		}, says: []string{"its start was ", "the server did not answer from 0:0"},
			cause: "errors", change: 1},
		{why: "a ds2 that is stopped", do: func(p *program) {
			p.Process.Signal(syscall.SIGSTOP)
			time.Sleep(4500 * time.Millisecond)
			p.Process.Signal(syscall.SIGCONT)
		}, says: []string{"ds2 itself stood still for "}},
		{why: "tables that are unlogged since the load", do: exec(), change: 4, says: []string{
			`table cust_hist is "unlogged"`, "constraint fk_customerid of orders is not there",
			"autovacuum_enabled=off"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			if c.change == 4 {
				exec("ALTER TABLE cust_hist SET UNLOGGED", "ALTER TABLE orders DROP CONSTRAINT fk_customerid",
					"ALTER TABLE reorder SET (autovacuum_enabled = off)")(nil)
			}
			p := driving(t, quick("drive", target, "--run-time 6s --max-errors 1000 --out out")...)
			if c.do != nil {
				c.do(p)
			}
			p.ends(t, map[bool]int{true: exitVerdict, false: exitDone}[c.cause != ""])
			if c.undo != nil {
				c.undo(p)
			}
			text := p.stdout.String()
			if c.do == nil {
				assert.NotRegexp(t, changed, text)
			}
			texttest.Contains(t, text, c.says...)
			record, err := result.Read(p.Dir + "/out")
			require.NoError(t, err)
			assert.Len(t, record.Changes, c.change)
			if c.cause != "" {
				assert.Equal(t, c.cause, record.Bottleneck.What)
				texttest.Contains(t, p.stderr.String(), "the server does not answer since ")
			}
		})
	}
}

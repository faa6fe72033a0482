package main

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
)

// TestHostileDatabase has a database whose name and notes are made to be obeyed by a terminal:
// commands show them, and a record keeps them, without what is obeyed.
func TestHostileDatabase(t *testing.T) {
	t.Parallel()
	const hostile = "x\x1b[2J\u202ecod.exe"
	server := pgtest.Server(t)
	admin := pgtest.DB(t, server.URL("postgres"))
	name := fmt.Sprintf("%s%d", hostile, time.Now().UnixNano())
	u := mustParse(t, server.URL("x"))
	u.Path = "/" + name
	target := u.String()
	t.Cleanup(func() { pgtest.Exec(t, admin, `DROP DATABASE IF EXISTS "`+name+`" WITH (FORCE)`) })
	out := filepath.Join(t.TempDir(), "record")
	clean := func(command, text string) {
		t.Helper()
		for i, c := range text {
			if c != '\n' && c != '\t' && unicode.In(c, unicode.Cc, unicode.Cf) {
				t.Errorf("%s prints %U: …%q", command, c, text[max(0, i-60):i+4])
				return
			}
		}
	}
	run := func(args ...string) {
		t.Helper()
		stdout, stderr := ends(t, exitDone, args...)
		clean(args[0], stdout+stderr)
	}
	run("load", "--target", target, "--size", "1MB")
	run(quick("drive", target, "--threads 1 --run-time 1s --out %s", out)...)
	run("report", out)
	run("verify", "--target", target)
	clean("run.log", read(t, filepath.Join(out, "run.log")))
	db := pgtest.DB(t, target)
	for _, note := range []string{"size", "customers", "words_sha256", "state"} {
		_, err := db.Exec("UPDATE ds2_info SET value = $1 WHERE name = $2", hostile, note)
		require.NoError(t, err)
		code, stdout, stderr := execute(
			t,
			quick("drive", target, "--threads 1 --run-time 1s --out %s", out+note)...)
		clean("drive with a hostile "+note, stdout+stderr)
		assert.NotEqual(t, exitUsage, code, "a hostile %s: exit %d, %q", note, code, stderr)
	}
}

// TestFewDescriptors has more clients at a run's page than the run has descriptors: they wait, its
// counters go on, and nothing is printed outside of the log's format.
func TestFewDescriptors(t *testing.T) {
	nightly.Long(t, "drives for 20 s")
	t.Parallel()
	p := startProgram(
		t,
		quick("drive", loaded(t), "--run-time 20s --metrics-addr 127.0.0.1:0 --out out")...)
	program := p.Path
	p.Path = "/bin/sh"
	p.Args = slices.Concat(
		[]string{"sh", "-c", `ulimit -n 64; exec "$0" "$@"`, program},
		p.Args[1:],
	)
	p.start(t)
	address := p.page(t)
	p.awaitOrders(t)
	for range 200 {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer conn.Close()
		fmt.Fprint(conn, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
	}
	came := time.Now()
	p.ends(t, exitDone)
	said := p.stderr.String()
	assert.NotContains(t, read(t, filepath.Join(p.out, "run.log"))+said, "too many open files")
	assert.NotContains(t, said, "http: ")
	rows := recordOf(t, p.out).Host.Rows
	assert.True(t, len(rows) != 0 && rows[len(rows)-1].Time.After(came),
		"%d seconds of counters, none of them since %s", len(rows), came)
}

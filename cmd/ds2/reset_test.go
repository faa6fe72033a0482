package main

import (
	"maps"
	"regexp"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
)

// TestResetAndRestore takes a database back to where it was: every row, and nothing but what was there.
func TestResetAndRestore(t *testing.T) {
	t.Parallel()
	target := pgtest.Database(t)
	ds2 := func(stdout string, args ...string) {
		t.Helper()
		require.Regexp(t, stdout, must(t, append(args, "--target", target)...))
	}
	run := func() map[string]string {
		t.Helper()
		must(t, quick("drive", target, "--run-time 2s --quiet --out %s/run", t.TempDir())...)
		return pgtest.Contents(t, target)
	}
	database := `127\.0\.0\.1:\d+/test\d+ in [\d.]+m?s\n$`
	ds2("^loaded size 1MB into ", "load", "--size", "1MB", "--quiet")
	loaded := pgtest.Contents(t, target)
	require.False(t, maps.Equal(loaded, run()), "the run changed nothing")
	ds2("^reset "+database, "reset")
	assert.Equal(t, loaded, pgtest.Contents(t, target), "after reset")
	ds2("audit of the whole database passed", "verify", "--quiet")

	worn := run() // a copy keeps what runs have done, too
	ds2("^copied "+database, "snapshot", "create")
	require.False(t, maps.Equal(worn, run()), "the run changed nothing")
	ds2("^restored "+database, "snapshot", "restore")
	assert.Equal(t, worn, pgtest.Contents(t, target), "after restore")
	fails(t, exitDone, "snapshot: a copy takes ",
		quick("bench", target, "--restore snapshot --runs 1 --settle 0s --idle 0s --cooldown 0s --run-time 2s "+
			"--quiet --out %s/bench", t.TempDir())...)
	ds2("^dropped the copy of "+database, "snapshot", "drop")
	fails(t, exitFailed, "there is no snapshot", "snapshot", "restore", "--target", target)
	ds2("audit of the whole database passed", "verify", "--quiet") // the database is still there
}

// TestDemoKeep has the database of a demo stay until Ctrl-C.
func TestDemoKeep(t *testing.T) {
	t.Parallel()
	p := begin(t, words("demo --keep --size 1MB --threads 2 --warmup-time 0 --run-time 1s --quiet --out out")...)
	p.await(t, "URL", func() bool { return regexp.MustCompile("\npostgres://.*\n").MatchString(p.stdout.String()) })
	target := lastLine(p.stdout.String())
	assert.NotEqual(t, "", pgtest.Contents(t, target)["orders"], "no orders")
	p.Process.Signal(syscall.SIGINT)
	p.ends(t, exitDone)
	db := openDB(t, "postgres://"+mustParse(t, target).Host+"/ds2?connect_timeout=1")
	assert.ErrorContains(t, db.Ping(), "connection refused")
}

// TestSnapshotOfUnfinishedLoad refuses to copy what a load has left half done.
func TestSnapshotOfUnfinishedLoad(t *testing.T) {
	t.Parallel()
	target := loaded(t)
	db := openDB(t, target)
	pgtest.Exec(t, db, "UPDATE ds2_info SET value = 'loading' WHERE name = 'state'")
	db.Close()
	fails(t, exitFailed, "load was not finished", "snapshot", "create", "--target", target)
}

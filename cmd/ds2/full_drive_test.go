package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/result"
	"ds2/internal/texttest"
)

// smallDrive is a file system of some size that belongs to a server's user; grow makes it larger.
func smallDrive(t *testing.T, size, owner string) (dir string, grow func(size string)) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ds2-small-drive-") // where other users may go
	require.NoError(t, err)
	t.Cleanup(func() { os.Remove(dir) })
	info, err := os.Stat(owner)
	require.NoError(t, err)
	user := info.Sys().(*syscall.Stat_t)
	if err := syscall.Mount("ds2", dir, "tmpfs", 0, "size="+size); errors.Is(err, syscall.EPERM) {
		t.Skip("only root can mount a small drive: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	require.NoError(t, errors.Join(os.Chown(dir, int(user.Uid), int(user.Gid)), os.Chmod(dir, 0o700)))
	return dir, func(size string) {
		require.NoError(t, syscall.Mount("ds2", dir, "tmpfs", syscall.MS_REMOUNT, "size="+size))
	}
}

// TestLoadFillsDrive loads onto a drive that fills up: once with tables, once with indexes, once with all that the
// server writes, whose log then has no room either. The error names the file system, and when there is room the load
// goes on.
func TestLoadFillsDrive(t *testing.T) {
	nightly.Long(t, "makes a cluster on a drive")
	t.Parallel()
	server := newTroubledServer(t)
	for _, c := range []struct{ flag, size, phase string }{
		{"--data-tablespace", "24m", "load data: copy "},
		{"--index-tablespace", "6m", "load indexes: create index "},
	} {
		t.Run(c.flag, func(t *testing.T) {
			dir, grow := smallDrive(t, c.size, server.DataDir())
			database := "full" + strings.ReplaceAll(c.flag, "-", "_")
			target := server.URL(database)
			t.Cleanup(func() {
				server.exec(t, "DROP DATABASE "+database)
				server.exec(t, "DROP TABLESPACE "+database)
			})
			server.exec(t, "CREATE TABLESPACE "+database+" LOCATION '"+dir+"'")
			args := []string{"load", "--target", target, "--size", "30MB", "--quiet", c.flag, database}
			_, stderr := ends(t, exitFailed, args...)
			texttest.Contains(t, stderr, c.phase, "could not extend file", "(53100)", dir+" (mounted at "+dir+")")
			grow("200m")
			must(t, append(args, "--resume")...)
			must(t, "verify", "--target", target, "--quiet")
		})
	}
	t.Run("all of the server", func(t *testing.T) {
		dir, grow := smallDrive(t, "96m", server.DataDir())
		own := pgtest.Start(t, localpg.Options{DataDir: filepath.Join(dir, "data"),
			Settings: map[string]string{"fsync": "off"}})
		target := own.URL("ds2")
		args := []string{"load", "--target", target, "--size", "30MB", "--quiet"}
		_, stderr := ends(t, exitFailed, args...)
		texttest.Contains(t, stderr, "on the server's file system that holds "+dir, "(mounted at "+dir+")")
		t.Log(stderr)
		grow("400m")
		require.NoError(t, own.Restart(t.Context())) // the server may have gone down
		must(t, append(args, "--resume")...)
		must(t, "verify", "--target", target, "--quiet")
	})
}

// TestRunFillsDrive: a run ends in order, with its result, before the drive of its server is full.
func TestRunFillsDrive(t *testing.T) {
	nightly.Long(t, "makes a cluster on a drive")
	t.Parallel()
	dir, _ := smallDrive(t, "300m", newTroubledServer(t).DataDir())
	server := pgtest.Start(t, localpg.Options{DataDir: filepath.Join(dir, "data"),
		Settings: map[string]string{"fsync": "off", "max_wal_size": "64MB"}})
	target, out := server.URL("mail"), filepath.Join(t.TempDir(), "record")
	must(t, words("load --target %s --workload mailbox --mailboxes 1 --mailbox-size 10MB -q", target)...)
	_, stderr := ends(t, exitVerdict,
		quick("drive", target, "--run-time 10m --think-time 0 --mix 100/0/0/0 -q --out %s", out)...)
	texttest.Contains(t, stderr, "no room: "+dir+" has ", "the run ended before it was full")
	record := recordOf(t, out)
	require.Equal(t, result.Aborted, record.Status)
	require.True(t, record.Audit.Passed)
	require.Zero(t, record.Counts.GivenUp, "transactions failed before")
}

// TestSnapshotWithoutRoom asks for a copy of a database on a drive that has no room for two, then makes room.
func TestSnapshotWithoutRoom(t *testing.T) {
	nightly.Long(t, "loads on a drive")
	t.Parallel()
	server := newTroubledServer(t)
	dir, grow := smallDrive(t, "18m", server.DataDir())
	server.exec(t, "CREATE TABLESPACE narrow LOCATION '"+dir+"'")
	server.exec(t, "CREATE DATABASE narrow TABLESPACE narrow")
	t.Cleanup(func() {
		server.exec(t, "DROP DATABASE narrow")
		server.exec(t, "DROP TABLESPACE narrow")
	})
	target := server.URL("narrow")
	must(t, "load", "--target", target, "--size", "1MB", "--quiet")
	_, stderr := ends(t, exitFailed, "snapshot", "create", "--target", target)
	texttest.Contains(t, stderr, "a copy takes 0.0", "GB in "+dir+", on the file system "+dir+"; make room there")
	grow("100m")
	fails(t, exitDone, "there is room for 0.", "snapshot", "create", "--target", target)
	fails(t, exitDone, "there is room for 0.", "snapshot", "restore", "--target", target)
	must(t, "snapshot", "drop", "--target", target)
}

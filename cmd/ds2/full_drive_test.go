package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/result"
	"ds2/internal/texttest"
)

// TestLoadFillsDrive loads onto a drive that fills up: once with tables, once with indexes, once
// with all that the server writes, whose log then has no room either. The error names the file
// system, and when there is room the load goes on.
func TestLoadFillsDrive(t *testing.T) {
	nightly.Long(t, "makes a cluster on a drive")
	t.Parallel()
	server := newTroubledServer(t)
	for _, c := range []struct{ flag, size, phase string }{
		{"--data-tablespace", "24m", "load data: copy "},
		{"--index-tablespace", "6m", "load indexes: create index "},
	} {
		t.Run(c.flag, func(t *testing.T) {
			dir, grow := devicetest.Small(t, c.size, server.DataDir())
			database := "full" + strings.ReplaceAll(c.flag, "-", "_")
			target := server.URL(database)
			t.Cleanup(func() {
				pgtest.Exec(t, server.admin, "DROP DATABASE "+database, "DROP TABLESPACE "+database)
			})
			pgtest.Exec(t, server.admin, "CREATE TABLESPACE "+database+" LOCATION '"+dir+"'")
			args := []string{
				"load",
				"--target",
				target,
				"--size",
				"30MB",
				"--quiet",
				c.flag,
				database,
			}
			_, stderr := ends(t, exitFailed, args...)
			texttest.Contains(
				t,
				stderr,
				c.phase,
				"could not extend file",
				"(53100)",
				dir+" (mounted at "+dir+")",
			)
			grow("200m")
			must(t, append(args, "--resume")...)
			must(t, "verify", "--target", target, "--quiet")
		})
	}
	t.Run("all of the server", func(t *testing.T) {
		dir, grow := devicetest.Small(t, "96m", server.DataDir())
		own := pgtest.Start(t, localpg.Options{
			DataDir:  filepath.Join(dir, "data"),
			Settings: map[string]string{"fsync": "off"},
		})
		target := own.URL("ds2")
		args := []string{"load", "--target", target, "--size", "30MB", "--quiet"}
		_, stderr := ends(t, exitFailed, args...)
		texttest.Contains(
			t,
			stderr,
			"on the server's file system that holds "+dir,
			"(mounted at "+dir+")",
		)
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
	dir, _ := devicetest.Small(t, "300m", newTroubledServer(t).DataDir())
	server := pgtest.Start(t, localpg.Options{
		DataDir:  filepath.Join(dir, "data"),
		Settings: map[string]string{"fsync": "off", "max_wal_size": "64MB"},
	})
	target := server.URL("mail")
	out := filepath.Join(t.TempDir(), "record")
	must(
		t,
		words(
			"load --target %s --workload mailbox --mailboxes 1 --mailbox-size 10MB -q",
			target,
		)...)
	_, stderr := ends(t, exitVerdict,
		quick("drive", target, "--run-time 10m --think-time 0 --mix 100/0/0/0 -q --out %s", out)...)
	texttest.Contains(t, stderr, "no room: "+dir+" has ", "so the run was ended")
	record := recordOf(t, out)
	require.Equal(t, result.Aborted, record.Status)
	require.True(t, record.Audit.Passed)
	require.Zero(t, record.Counts.GivenUp, "transactions failed before")
}

// TestSnapshotWithoutRoom asks for a copy of a database on a drive that has no room for two, then
// makes room.
func TestSnapshotWithoutRoom(t *testing.T) {
	nightly.Long(t, "loads on a drive")
	t.Parallel()
	server := newTroubledServer(t)
	dir, grow := devicetest.Small(t, "18m", server.DataDir())
	pgtest.Exec(t, server.admin, "CREATE TABLESPACE narrow LOCATION '"+dir+"'",
		"CREATE DATABASE narrow TABLESPACE narrow")
	t.Cleanup(func() {
		pgtest.Exec(t, server.admin, "DROP DATABASE narrow", "DROP TABLESPACE narrow")
	})
	target := server.URL("narrow")
	must(t, "load", "--target", target, "--size", "1MB", "--quiet")
	_, stderr := ends(t, exitFailed, "snapshot", "create", "--target", target)
	texttest.Contains(
		t,
		stderr,
		"a copy takes 0.0",
		"GB in "+dir+", on the file system "+dir+"; make room there",
	)
	grow("100m")
	fails(t, exitDone, "there is room for 0.", "snapshot", "create", "--target", target)
	fails(t, exitDone, "there is room for 0.", "snapshot", "restore", "--target", target)
	must(t, "snapshot", "drop", "--target", target)
}

// TestFullDisk has the disk of the record full in mid-run: what was measured is printed.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	p := startProgram(
		t,
		quick("drive", loaded(t), "--run-time 2m --window 1s-2s --window 5s-6s --window 8s-9s "+
			"--window 11s-12s --out disk/out")...)
	disk := filepath.Join(p.Dir, "disk")
	require.NoError(t, os.Mkdir(disk, 0o755))
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m"); err != nil {
		t.Skip("only root can mount a small disk: ", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	p.start(t)
	p.await(t, "orders", p.holds("disk/out/run.log", "phase=run"))
	p.await(t, "the first window", func() bool {
		r, err := result.Read(filepath.Join(disk, "out"))
		return err == nil && len(r.Series.Intervals) > 0
	})
	require.ErrorIs(
		t,
		os.WriteFile(filepath.Join(disk, "ballast"), make([]byte, 4<<20), 0o600),
		syscall.ENOSPC,
	)
	p.ends(t, exitFailed)
	assert.Contains(t, p.stderr.String(), "no space left on device")
	assert.Contains(t, p.stdout.String(), " OPM", "printed")
}

// TestRecordGone has the directory of the record removed in mid-run: what was measured is printed.
func TestRecordGone(t *testing.T) {
	t.Parallel()
	p := driving(t, quick("drive", loaded(t), "--run-time 6s --window 1s-2s --out out")...)
	require.NoError(t, os.RemoveAll(p.out))
	p.ends(t, exitFailed)
	assert.Contains(t, p.stderr.String(), "no such file")
	assert.Contains(t, p.stdout.String(), " OPM", "printed")
}

// TestAuditLosesItsServer has a server go down for lack of room in the middle of the audit: the
// run's record stays, says why it was not audited, and is audited later.
func TestAuditLosesItsServer(t *testing.T) {
	nightly.Long(t, "makes a cluster on a drive")
	t.Parallel()
	dir, grow := devicetest.Small(t, "200m", pgtest.Server(t).DataDir())
	// A server that starts again removes files of its log, and one that asks late finds room.
	settings := map[string]string{"fsync": "off", "restart_after_crash": "off"}
	data := filepath.Join(dir, "data")
	server := pgtest.Start(t, localpg.Options{DataDir: data, Settings: settings})
	target := server.URL("ds2")
	must(t, "load", "--target", target, "--size", "1MB", "--quiet")
	p := begin(
		t,
		words("drive --target %s --threads 2 --warmup-time 0 --run-time 6s --out out", target)...)
	db := pgtest.DB(t, target)
	pgtest.Await(t, db, "SELECT count(*) > 1200 FROM orders") // the first are the run's
	locked(t, target, "LOCK TABLE categories")                // which the audit counts, and orders do not read
	pgtest.Await(
		t,
		db,
		"SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'categories'::regclass",
	)
	err := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 200<<20), 0o600)
	require.ErrorIs(t, err, syscall.ENOSPC)
	for err = nil; err == nil; { // until the files of the log that there are have no room either
		_, err = db.Exec("SELECT pg_logical_emit_message(false, 'ds2', repeat('x', 1000000))")
	}
	p.ends(t, exitVerdict)
	texttest.Contains(
		t,
		p.stderr.String(),
		"not audited: ",
		"are free on the server's file system that holds "+dir,
	)
	record := recordOf(t, p.out)
	require.True(t, record.OPM != nil && record.Audit != nil, "record %+v", record)
	require.True(
		t,
		record.Audit.NotAudited != "" && !record.Audit.Passed,
		"audit %+v",
		record.Audit,
	)
	assert.Contains(
		t,
		must(t, "report", "--output", "text", p.out),
		"The database was not audited: ",
	)
	grow("400m")
	require.NoError(t, server.Restart(t.Context()))
	require.Contains(
		t,
		must(t, "verify", "--target", target, "--record", p.out, "--quiet"),
		"orders of the run: ",
	)
	audit := recordOf(t, p.out).Audit
	assert.True(t, audit.Passed && audit.NotAudited == "" && len(audit.Checks) >= 27,
		"the record's audit is %+v", audit)
}

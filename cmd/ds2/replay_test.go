package main

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/nightly"
	"ds2/internal/texttest"
)

// TestReplayDemo has a demo's own server redo its log, of DVD Store 2 and of the mailbox store, and reports that.
func TestReplayDemo(t *testing.T) {
	nightly.Long(t, "takes half a minute")
	t.Parallel()
	for _, workload := range []string{"ds2 --size 1MB", "mailbox --mailboxes 10 --mailbox-size 1MB"} {
		out := filepath.Join(t.TempDir(), "record")
		const flags = "demo --workload %s --threads 8 --warmup-time 0 --replay 5MB --out %s --quiet --details"
		stdout := must(t, words(flags, workload, out)...)
		texttest.Contains(t, stdout, "The server redid ", "Replay test\n")
		record := recordOf(t, out)
		r := record.Replay
		t.Logf("%s: %+v", workload, r)
		// What the server says that it redid is what stood there by its own positions, and what came until the kill;
		// its pages' ends count or not.
		require.True(t, r != nil && record.Audit.Passed, "%s: %+v, audit %+v", workload, r, record.Audit)
		assert.True(t, r.Wanted == 5e6 && r.Stood >= 5e6 && float64(r.Bytes) >= 0.75*float64(r.Stood), "%+v", r)
		assert.True(t, r.Seconds >= 0 && r.Seconds <= r.Recovery && len(r.Changed) != 0, "%+v", r)
	}
}

// changedSettings counts the settings of ALTER SYSTEM and the note of them.
const changedSettings = `(SELECT count(*) FROM pg_file_settings WHERE sourcefile LIKE '%postgresql.auto.conf') +
	(SELECT count(*) FROM ds2_info WHERE name = 'replay')`

// TestReplayLeavesNothing looks for settings that a replay test leaves behind: one that ended well, one whose server
// did not come back, and one whose ds2 was killed. The next ds2 sets back what those could not.
func TestReplayLeavesNothing(t *testing.T) {
	nightly.Long(t, "takes half a minute")
	t.Parallel()
	server, target := loadedServer(t)
	commands := localServer(t, server, target)
	db := openDB(t, target)
	db.SetMaxIdleConns(0)
	changed := func() (n int) {
		t.Helper()
		await(t, "a server that was just started", func() bool {
			return db.QueryRow("SELECT "+changedSettings).Scan(&n) == nil
		})
		return n
	}
	flags := func(bytes, kill, start string) []string {
		run := quick("drive", target, "--threads 4 --quiet --out %s/record --replay %s --server-log %s",
			t.TempDir(), bytes, server.LogFile())
		return append(run, "--kill-command", kill, "--start-command", start)
	}
	start := commands.StartLine[:len(commands.StartLine)-1] + ">> " + server.LogFile() + " 2>&1 &"
	require.Contains(t, must(t, flags("5MB", commands.KillLine, start)...), "The server redid ")
	assert.Equal(t, 0, changed(), "a test that ended well left")

	fails(t, exitFailed, "still changed, until the next ds2 works on the database and sets it back: checkpoint_timeout",
		flags("5MB", commands.KillLine, "false")...)
	commands.StartLine = start
	require.NoError(t, commands.Start(context.Background()))
	assert.Equal(t, 2, changed(), "settings and notes; max_wal_size is large enough for 5 MB")
	fails(t, exitDone, "set back checkpoint_timeout, which", "reset", "--target", target)
	assert.Equal(t, 0, changed(), "the next command left")

	p := begin(t, flags("1TB", commands.KillLine, start)...)
	await(t, "the beginning of the test", func() bool { return changed() == 3 })
	p.Process.Kill()
	<-p.ended
	await(t, "an end of the locks of the one that was killed", func() (is bool) {
		require.NoError(t, db.QueryRow("SELECT count(*) = 0 FROM pg_locks WHERE locktype = 'advisory'").Scan(&is))
		return is
	})
	fails(t, exitDone, "set back checkpoint_timeout and max_wal_size", "reset", "--target", target)
	assert.Equal(t, 0, changed(), "after ds2 was killed")
	_, stderr := ends(t, exitDone, "verify", "--target", target, "--quiet")
	assert.NotContains(t, stderr, "set back", "the command after that")
}

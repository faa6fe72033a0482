package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/nightly"
	"ds2/internal/result"
)

// TestReplayDemo has a demo's own server redo its log, of DVD Store 2 and of the mailbox store, and reports that.
func TestReplayDemo(t *testing.T) {
	nightly.Long(t, "takes half a minute")
	t.Parallel()
	for workload, size := range map[string][]string{"ds2": {"--size", "1MB"}, "mailbox": {"--mailboxes", "10", "--mailbox-size", "1MB"}} {
		out := filepath.Join(t.TempDir(), "record")
		code, stdout, stderr := execute(t, append([]string{"demo", "--workload", workload, "--threads", "8", "--warmup-time", "0", "--replay", "5MB", "--out", out, "--quiet", "--details"}, size...)...)
		if code != exitDone || !strings.Contains(stdout, "The server redid ") || !strings.Contains(stdout, "Replay test\n") {
			t.Fatalf("%s: exit %d\n%s\n%s", workload, code, stdout, stderr)
		}
		record, err := result.Read(out)
		require.NoError(t, err)
		r := record.Replay
		t.Logf("%s: %+v", workload, r)
		// What the server says that it redid is what stood there by its own positions, and what came until the kill;
		// its pages' ends count or not.
		if r == nil || r.Wanted != 5e6 || r.Stood < 5e6 || float64(r.Bytes) < 0.75*float64(r.Stood) || r.Seconds < 0 || r.Seconds > r.Recovery || len(r.Changed) == 0 || !record.Audit.Passed {
			t.Errorf("%s: %+v, audit %+v", workload, r, record.Audit)
		}
	}
}

// TestReplayLeavesNothing looks for settings that a replay test leaves behind: one that ended well, one whose server
// did not come back, and one whose ds2 was killed. The next ds2 sets back what those could not.
func TestReplayLeavesNothing(t *testing.T) {
	nightly.Long(t, "takes half a minute")
	t.Parallel()
	server, target := loadedServer(t)
	commands := localServer(t, server, target)
	db := openDB(t, target)
	db.SetMaxIdleConns(0)
	// changed are settings of ALTER SYSTEM and the note of them.
	changed := func() (n int) {
		t.Helper()
		const query = "SELECT (SELECT count(*) FROM pg_file_settings WHERE sourcefile LIKE '%postgresql.auto.conf') + (SELECT count(*) FROM ds2_info WHERE name = 'replay')"
		var err error
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) { // a server that was just started
			if err = db.QueryRow(query).Scan(&n); err == nil {
				return n
			}
		}
		t.Fatal(err)
		return 0
	}
	flags := func(bytes, kill, start string) []string {
		return []string{"drive", "--target", target, "--threads", "4", "--ramp-rate", "100", "--warmup-time", "0", "--replay", bytes, "--server-log", server.LogFile(),
			"--kill-command", kill, "--start-command", start, "--metrics-addr", "", "--quiet", "--out", filepath.Join(t.TempDir(), "record")}
	}
	start := commands.StartLine[:len(commands.StartLine)-1] + ">> " + server.LogFile() + " 2>&1 &"
	require.Contains(t, must(t, flags("5MB", commands.KillLine, start)...), "The server redid ")
	assert.Equal(t, 0, changed(), "a test that ended well left")

	fails(t, exitFailed, "still changed, until the next ds2 works on the database and sets it back: checkpoint_timeout", flags("5MB", commands.KillLine, "false")...)
	commands.StartLine = start
	require.NoError(t, commands.Start(context.Background()))
	if n := changed(); n != 2 { // max_wal_size is large enough for 5 MB
		t.Errorf("%d of 2 settings and notes are there", n)
	}
	fails(t, exitDone, "set back checkpoint_timeout, which", "reset", "--target", target)
	assert.Equal(t, 0, changed(), "the next command left")

	p := startProgram(t, flags("1TB", commands.KillLine, start)...)
	p.start(t)
	for end := time.Now().Add(patience); changed() != 3; time.Sleep(100 * time.Millisecond) {
		require.False(t, time.Now().After(end), "the test did not begin")
	}
	p.Process.Kill()
	<-p.ended
	locks := 1 // of the one that was killed, until its server notices
	for end := time.Now().Add(patience); locks > 0 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		require.NoError(t, db.QueryRow("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").Scan(&locks))
	}
	fails(t, exitDone, "set back checkpoint_timeout and max_wal_size", "reset", "--target", target)
	assert.Equal(t, 0, changed(), "after ds2 was killed")
	if code, _, stderr := execute(t, "verify", "--target", target, "--quiet"); code != exitDone || strings.Contains(stderr, "set back") {
		t.Errorf("the command after that: exit %d, %s", code, stderr)
	}
}

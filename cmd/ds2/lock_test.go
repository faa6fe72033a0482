package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/result"
	"ds2/internal/store"
)

// TestOneCommandAtATime has a run under way while every other command tries to use its database.
func TestOneCommandAtATime(t *testing.T) {
	t.Parallel()
	target := loaded(t)
	must(t, "snapshot", "create", "--target", target)
	t.Cleanup(func() { execute(t, "snapshot", "drop", "--target", target) })
	run := []string{"--target", target, "--threads", "1", "--warmup-time", "0", "--metrics-addr", ""}
	p := startProgram(t, append([]string{"drive", "--run-time", "10m", "--run-id", "shared", "--out", "out"}, run...)...)
	p.start(t)
	p.await(t, "orders", p.holds("out/run.log", "phase=run"))

	host, err := os.Hostname()
	require.NoError(t, err)
	refusal := regexp.MustCompile(fmt.Sprintf(`^ds2: 127\.0\.0\.1:\d+/test\d+ is in use by ds2 drive, process %d on %s, since 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC: wait for its end, or stop it`,
		p.Process.Pid, regexp.QuoteMeta(host[:min(len(host), 10)])))
	file := filepath.Join(t.TempDir(), "threads.yaml")
	require.NoError(t, os.WriteFile(file, []byte("target: "+target+"\nfactors: {threads: [1, 2]}\n"), 0o644))
	for _, args := range [][]string{
		{"experiment", file, "--out", filepath.Join(t.TempDir(), "experiment")},
		{"reset", "--target", target},
		{"verify", "--target", target},
		{"load", "--size", "1MB", "--drop", "--target", target},
		{"snapshot", "create", "--target", target},
		{"snapshot", "restore", "--target", target},
		{"snapshot", "drop", "--target", target},
		{"bench", "--out", filepath.Join(t.TempDir(), "bench"), "--restore", "none", "--target", target},
		{"tune", "--out", filepath.Join(t.TempDir(), "tune"), "--target", target},
		{"drive", "--out", filepath.Join(t.TempDir(), "other"), "--target", target},
	} {
		code, stdout, stderr := execute(t, args...)
		if code != exitFailed || !refusal.MatchString(lastLine(stderr)) || stdout != "" {
			t.Errorf("ds2 %s beside a run: exit %d, %s%s", strings.Join(args, " "), code, stdout, stderr)
		}
	}
	joined := append([]string{"drive", "--run-time", "1s", "--run-id", "shared", "--user-offset", "100", "--verify", "none", "--quiet", "--out", filepath.Join(t.TempDir(), "joined")}, run...)
	must(t, joined...)

	p.Process.Signal(syscall.SIGKILL)
	<-p.ended
	code, stderr := exitFailed, ""
	for end := time.Now().Add(patience); code != exitDone && time.Now().Before(end); { // the server ends a dead client's session when it has done what it is at
		code, _, stderr = execute(t, "reset", "--target", target)
	}
	require.Equal(t, exitDone, code, "reset after the run was killed: %s", stderr)
}

// TestLostLock ends the connection that holds a run's lock, and takes the lock: the run ends, is marked, and does not
// count.
func TestLostLock(t *testing.T) {
	t.Parallel()
	target := loaded(t)
	p := startProgram(t, "drive", "--target", target, "--threads", "1", "--warmup-time", "0", "--run-time", "10m", "--out", "out", "--metrics-addr", "")
	p.start(t)
	p.await(t, "orders", p.holds("out/run.log", "phase=run"))
	s, err := engines().Open(target)
	require.NoError(t, err)
	defer s.Close()
	end := fmt.Sprintf("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE 'ds2 drive %d %%'", p.Process.Pid)
	for taken := false; !taken; {
		var n int
		require.NoError(t, s.DB().QueryRowContext(t.Context(), end).Scan(&n))
		lock := store.Lock{Holder: store.Holder{Command: "test", PID: 1, Host: "here"}, Lost: func(error) {}}
		unlock, err := s.(store.Locker).Lock(t.Context(), lock)
		if taken = err == nil; taken { // else it was taken again before another could
			defer unlock()
		}
	}
	<-p.ended
	record, err := result.Read(p.out)
	require.NoError(t, err)
	if code := p.ProcessState.ExitCode(); code != exitFailed || record.Status != result.Failed || !strings.Contains(record.Error, "lock was lost") {
		t.Errorf("exit %d, status %s: %s\n%s", code, record.Status, record.Error, p.stderr.String())
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

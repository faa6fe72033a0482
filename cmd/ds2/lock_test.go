package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"ds2/internal/localpg/pgtest"
)

// TestOneCommandAtATime has a run under way while every other command tries to use its database.
func TestOneCommandAtATime(t *testing.T) {
	t.Parallel()
	target := pgtest.Database(t)
	if code, _, stderr := execute(t, "load", "--target", target, "--size", "1MB", "--quiet"); code != exitDone {
		t.Fatalf("load: exit %d, %s", code, stderr)
	}
	if code, _, stderr := execute(t, "snapshot", "create", "--target", target); code != exitDone {
		t.Fatalf("snapshot create: exit %d, %s", code, stderr)
	}
	t.Cleanup(func() { execute(t, "snapshot", "drop", "--target", target) })
	run := []string{"--target", target, "--threads", "1", "--warmup-time", "0", "--metrics-addr", ""}
	p := startProgram(t, append([]string{"drive", "--run-time", "10m", "--run-id", "shared", "--out", "out"}, run...)...)
	p.start(t)
	p.await(t, "orders", p.holds("out/run.log", "phase=run"))

	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	refusal := regexp.MustCompile(fmt.Sprintf(`^ds2: 127\.0\.0\.1:\d+/test\d+ is in use by ds2 drive, process %d on %s, since 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC: wait for its end, or stop it`,
		p.Process.Pid, regexp.QuoteMeta(host[:min(len(host), 10)])))
	file := filepath.Join(t.TempDir(), "threads.yaml")
	if err := os.WriteFile(file, []byte("target: "+target+"\nfactors: {threads: [1, 2]}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := execute(t, "experiment", file, "--out", filepath.Join(t.TempDir(), "experiment")); code != exitFailed || !refusal.MatchString(lastLine(stderr)) || stdout != "" {
		t.Errorf("ds2 experiment beside a run: exit %d, %s%s", code, stdout, stderr)
	}
	for _, args := range [][]string{
		{"reset"},
		{"verify"},
		{"load", "--size", "1MB", "--drop"},
		{"snapshot", "create"},
		{"snapshot", "restore"},
		{"snapshot", "drop"},
		{"bench", "--out", filepath.Join(t.TempDir(), "bench"), "--restore", "none"},
		{"tune", "--out", filepath.Join(t.TempDir(), "tune")},
		{"drive", "--out", filepath.Join(t.TempDir(), "other")},
	} {
		code, stdout, stderr := execute(t, append(args, "--target", target)...)
		if code != exitFailed || !refusal.MatchString(lastLine(stderr)) || stdout != "" {
			t.Errorf("ds2 %s beside a run: exit %d, %s%s", strings.Join(args, " "), code, stdout, stderr)
		}
	}
	joined := append([]string{"drive", "--run-time", "1s", "--run-id", "shared", "--user-offset", "100", "--verify", "none", "--quiet", "--out", filepath.Join(t.TempDir(), "joined")}, run...)
	if code, _, stderr := execute(t, joined...); code != exitDone {
		t.Errorf("another driver machine of the same run: exit %d, %s", code, stderr)
	}

	p.Process.Signal(syscall.SIGKILL)
	<-p.ended
	code, _, stderr := execute(t, "reset", "--target", target)
	if code != exitDone { // the server ends a dead client's session when it has done what it is at
		code, _, stderr = execute(t, "reset", "--target", target)
	}
	if code != exitDone {
		t.Errorf("reset after the run was killed: exit %d, %s", code, stderr)
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

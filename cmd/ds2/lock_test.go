package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

// TestOneCommandAtATime has a run under way while every other command tries to use its database.
func TestOneCommandAtATime(t *testing.T) {
	t.Parallel()
	target := loaded(t)
	must(t, "snapshot", "create", "--target", target)
	t.Cleanup(func() { execute(t, "snapshot", "drop", "--target", target) })
	shared := func(more string) []string {
		return quick("drive", target, "--threads 1 --run-id shared %s", more)
	}
	p := driving(t, shared("--run-time 10m --out out")...)

	host, err := os.Hostname()
	require.NoError(t, err)
	refusal := regexp.MustCompile(fmt.Sprintf(
		`^ds2: 127\.0\.0\.1:\d+/test\d+ is in use by ds2 drive, process %d on %s, `+
			`since 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC: wait until it ends, or stop it`,
		p.Process.Pid, regexp.QuoteMeta(host[:min(len(host), 10)])))
	file := textFile(t, "threads.yaml", "target: "+target+"\nfactors: {threads: [1, 2]}\n")
	dir := t.TempDir()
	refused := []string{"experiment " + file + " --out " + dir + "/experiment"}
	for _, line := range []string{
		"reset", "verify", "load --size 1MB --drop", "snapshot create", "snapshot restore", "snapshot drop",
		"bench --restore none --out " + dir + "/bench", "tune --limit errors<50% --out " + dir + "/tune",
		"drive --out " + dir + "/other",
	} {
		refused = append(refused, line+" --target "+target)
	}
	for _, line := range refused {
		stdout, stderr := ends(t, exitFailed, strings.Fields(line)...)
		assert.Regexp(t, refusal, lastLine(stderr), line)
		assert.Empty(t, stdout, line)
	}
	must(t, shared("--run-time 1s --user-offset 100 --verify none --quiet --out "+dir+"/joined")...)

	p.Process.Signal(syscall.SIGKILL)
	<-p.ended
	// The server ends a dead client's session when it has done what it is at.
	await(t, "a reset after the run was killed", func() bool {
		code, _, _ := execute(t, "reset", "--target", target)
		return code == exitDone
	})
}

// TestLostLock ends the connection that holds a run's lock, and takes the lock: the run ends, is
// marked, and does not count.
func TestLostLock(t *testing.T) {
	t.Parallel()
	target := loaded(t)
	p := driving(t, quick("drive", target, "--threads 1 --run-time 10m --out out")...)
	s := pgtest.Open(t, postgres.Open, target)
	end := fmt.Sprintf(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE application_name LIKE 'ds2 drive %d %%'`, p.Process.Pid)
	for taken := false; !taken; {
		pgtest.Value[int](t, s.DB(), end)
		lock := store.Lock{
			Holder: store.Holder{Command: "test", PID: 1, Host: "here"},
			Lost:   func(error) {},
		}
		unlock, err := s.Lock(t.Context(), lock)
		if taken = err == nil; taken { // else it was taken again before another could
			defer unlock()
		}
	}
	p.ends(t, exitFailed)
	record := recordOf(t, p.out)
	assert.Equal(t, result.Failed, record.Status)
	assert.Contains(t, record.Error, "lock was lost")
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

package main

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/durability"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/result"
	"ds2/internal/texttest"
	"ds2/internal/workload/ds2/counts"
)

// localServer gives the commands that kill and start a server on this machine, as a user would write them. The server
// that runs at the test's end is stopped.
func localServer(t *testing.T, server *localpg.Server, target string) durability.Commands {
	t.Helper()
	u, err := url.Parse(target)
	require.NoError(t, err)
	as := "" // root has to become the server's user
	var directory syscall.Stat_t
	require.NoError(t, syscall.Stat(server.DataDir(), &directory))
	if os.Geteuid() == 0 {
		as = fmt.Sprintf("setpriv --reuid=%d --regid=%d --clear-groups ", directory.Uid, directory.Gid)
	}
	program := func(name string) string { return as + filepath.Join(server.BinDir(), name) + " -D " + server.DataDir() }
	kill := fmt.Sprintf(`pid=$(head -n 1 %s/postmaster.pid) && kill -9 $pid $(cat /proc/$pid/task/$pid/children)
		while kill -0 $pid; do sleep 0.1; done 2>/dev/null`, server.DataDir())
	start := program("postgres") + " -p " + u.Port() + " -h 127.0.0.1 -c unix_socket_directories= &"
	t.Cleanup(func() { // before the server's directory goes
		out, err := exec.Command("sh", "-c", program("pg_ctl")+" -m immediate stop").CombinedOutput()
		assert.NoError(t, err, "stop the server: %s", out)
	})
	return durability.Commands{KillLine: kill, StartLine: start}
}

// TestCrashCommands kills and starts a server by commands of the user's: one that leaves the server's output open, as
// a server started in the background does, and ones that fail.
func TestCrashCommands(t *testing.T) {
	nightly.Long(t, "takes half a minute")
	t.Parallel()
	server, target := loadedServer(t)
	commands := localServer(t, server, target)
	drive := func(kill, start, out string) []string {
		run := quick("drive", target, "--threads 4 --run-time 4s --crash-after 1s --quiet --out %s", out)
		return append(run, "--kill-command", kill, "--start-command", start)
	}
	out := filepath.Join(t.TempDir(), "record")
	require.Contains(t, must(t, drive(commands.KillLine, commands.StartLine, out)...), "The server was killed at ")
	record := recordOf(t, out)
	require.True(t, record.Crash != nil && record.Crash.Down > 0 && record.Audit.Passed, "crash %+v", record.Crash)
	// A slow server may be back only when the run has ended: then its users have given up what they tried.
	assert.NotZero(t, record.Counts.Reconnects+record.Counts.GivenUp)
	for _, c := range []struct{ kill, start, want string }{
		{"echo no host; exit 7", "true", "kill the server: echo no host; exit 7: exit status 7\nno host"},
		{"true", "echo no disk >&2; exit 8", "start the server: echo no disk >&2; exit 8: exit status 8\nno disk"},
	} {
		fails(t, exitFailed, c.want, drive(c.kill, c.start, filepath.Join(t.TempDir(), "failed"))...)
	}
}

// TestCrashCycles has a demo kill its server several times: the record is one, orders go on in between, and nothing is
// lost.
func TestCrashCycles(t *testing.T) {
	nightly.Long(t, "takes half a minute")
	t.Parallel()
	const threads = 8
	cycles := 6
	if n, err := strconv.Atoi(os.Getenv("DS2_TEST_KILLS")); err == nil {
		cycles = n
	}
	out := filepath.Join(t.TempDir(), "record")
	stdout := must(t, words("demo --size 1MB --threads %d --crash-cycles %d --crash-after 1s --deep-every 3 "+
		"--warmup-time 1s --seed 5 --quiet --out %s", threads, cycles, out)...)
	texttest.Contains(t, stdout, fmt.Sprintf("\n%d cuts, ", cycles), "0 lost: at most ")
	record := recordOf(t, out)
	c := record.Cuts
	require.True(t, c != nil && len(c.Cuts) == cycles && c.Lossy == 0 && c.Lost == 0, "cuts %+v", c)
	assert.True(t, record.Status == result.Done && record.Audit.Passed,
		"status %s, audit %+v", record.Status, record.Audit)
	// An order that a user still tried when the run ended is given up too, without being in doubt.
	inDoubt := counts.Of(record.Counts, counts.InDoubtPurchases)
	assert.LessOrEqual(t, record.Counts.GivenUp, inDoubt+threads)
	bursts, doubt := 0, int64(0)
	for _, cut := range c.Cuts {
		doubt += cut.InDoubt
		if cut.When == "in a burst of commits" {
			bursts++
		}
	}
	assert.Equal(t, cycles/3, bursts)
	assert.Equal(t, inDoubt, doubt)
	sampled := time.Duration(0)
	for _, s := range record.Series.Samples {
		sampled += s.Length
	}
	assert.Equal(t, record.Series.Samples[len(record.Series.Samples)-1].End, sampled, "the samples")
}

// TestCrashOfTwoMachines drives one server from two machines, of which one kills it, and merges their journals.
func TestCrashOfTwoMachines(t *testing.T) {
	nightly.Long(t, "takes half a minute")
	t.Parallel()
	server, target := loadedServer(t)
	kills := localServer(t, server, target)
	dir := t.TempDir()
	// When all are connected, on a busy machine too.
	start := time.Now().Add(20 * time.Second).Truncate(time.Second).UTC()
	run := func(name, more string) []string {
		const common = "--threads 3 --run-id both --seed 9 --quiet --verify none --start-at %s --out %s/%s %s"
		return quick("drive", target, common, start.Format(time.RFC3339), dir, name, more)
	}
	other := begin(t, run("b", "--run-time 1h --user-offset 3 --journal")...)
	must(t, append(run("a", "--crash-cycles 2 --crash-after 2s"),
		"--kill-command", kills.KillLine, "--start-command", kills.StartLine)...)
	require.NoError(t, other.Process.Signal(syscall.SIGINT))
	other.ends(t, exitInterrupted)
	one := words("verify --target %s --quiet --record %s/a", target, dir)
	both := append(one, "--record", dir+"/b")
	assert.Contains(t, must(t, both...), "ok      acknowledged purchases that were lost: expected 0, found 0\n")
	ends(t, exitVerdict, one...) // though the other's orders are there
	// An order that only the second machine was told of.
	pgtest.Exec(t, openDB(t, target), `WITH last AS (SELECT max(o.orderid) AS orderid FROM orders o),
		lines AS (DELETE FROM orderlines WHERE orderid = (SELECT orderid FROM last))
		DELETE FROM orders WHERE orderid = (SELECT orderid FROM last)`)
	stdout, _ := ends(t, exitVerdict, both...)
	assert.Contains(t, stdout, "FAILED  acknowledged purchases that were lost: expected 0, found 1: orders ")
}

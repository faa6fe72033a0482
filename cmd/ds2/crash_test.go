package main

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/durability"
	"ds2/internal/localpg"
	"ds2/internal/nightly"
	"ds2/internal/result"
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
		if out, err := exec.Command("sh", "-c", program("pg_ctl")+" -m immediate stop").CombinedOutput(); err != nil {
			t.Errorf("stop the server: %v\n%s", err, out)
		}
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
	kill, start := commands.KillLine, commands.StartLine
	drive := func(kill, start, out string) (code int, stdout, stderr string) {
		return execute(t, "drive", "--target", target, "--threads", "4", "--ramp-rate", "100", "--warmup-time", "0", "--run-time", "4s",
			"--crash-after", "1s", "--kill-command", kill, "--start-command", start, "--metrics-addr", "", "--quiet", "--out", out)
	}
	out := filepath.Join(t.TempDir(), "record")
	code, stdout, stderr := drive(kill, start, out)
	if code != exitDone || !strings.Contains(stdout, "The server was killed at ") {
		t.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	record, err := result.Read(out)
	require.NoError(t, err)
	// A slow server may be back only when the run has ended: then its users have given up what they tried.
	if c := record.Counts; record.Crash == nil || record.Crash.Down <= 0 || c.Reconnects+c.GivenUp == 0 || !record.Audit.Passed {
		t.Errorf("crash %+v, %d reconnects, %d given up, audit passed: %t", record.Crash, c.Reconnects, c.GivenUp, record.Audit.Passed)
	}
	for why, c := range map[string]struct{ kill, start, want string }{
		"a kill that fails":  {"echo no such host; exit 7", "true", "kill the server: echo no such host; exit 7: exit status 7\nno such host"},
		"a start that fails": {"true", "echo no disk >&2; exit 8", "start the server: echo no disk >&2; exit 8: exit status 8\nno disk"},
	} {
		if code, _, stderr := drive(c.kill, c.start, filepath.Join(t.TempDir(), "failed")); code != exitFailed || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, %s", why, code, stderr)
		}
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
	code, stdout, stderr := execute(t, "demo", "--size", "1MB", "--threads", fmt.Sprint(threads), "--crash-cycles", fmt.Sprint(cycles), "--crash-after", "1s", "--deep-every", "3",
		"--warmup-time", "1s", "--seed", "5", "--quiet", "--out", out)
	if code != exitDone || !strings.Contains(stdout, fmt.Sprintf("\n%d cuts, ", cycles)) || !strings.Contains(stdout, "0 lost: at most ") {
		t.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	record, err := result.Read(out)
	require.NoError(t, err)
	c := record.Cuts
	// An order that a user still tried when the run ended is given up too, without being in doubt.
	if c == nil || len(c.Cuts) != cycles || c.Lossy != 0 || c.Lost != 0 || record.Status != result.Done || !record.Audit.Passed || record.Counts.GivenUp > counts.Of(record.Counts, counts.InDoubtPurchases)+threads {
		t.Errorf("cuts %+v, status %s, audit %+v, counts %+v", c, record.Status, record.Audit, record.Counts)
	}
	when := map[string]int{}
	doubt := int64(0)
	for _, cut := range c.Cuts {
		when[cut.When]++
		doubt += cut.InDoubt
	}
	if when["in a burst of commits"] != cycles/3 || when["at random"]+when["during a checkpoint"] != cycles-cycles/3 || doubt != counts.Of(record.Counts, counts.InDoubtPurchases) {
		t.Errorf("cuts came %v, %d in doubt of %d", when, doubt, counts.Of(record.Counts, counts.InDoubtPurchases))
	}
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
	start := time.Now().Add(20 * time.Second).Truncate(time.Second).UTC().Format(time.RFC3339) // when all are connected, on a busy machine too
	common := []string{"drive", "--target", target, "--threads", "3", "--ramp-rate", "100", "--warmup-time", "0", "--run-id", "both", "--seed", "9",
		"--start-at", start, "--metrics-addr", "", "--quiet", "--verify", "none"}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	other := startProgram(t, append(common, "--run-time", "1h", "--user-offset", "3", "--journal", "--out", b)...)
	other.start(t)
	code, stdout, stderr := execute(t, append(common, "--crash-cycles", "2", "--crash-after", "2s", "--kill-command", kills.KillLine, "--start-command", kills.StartLine, "--out", a)...)
	require.NoError(t, other.Process.Signal(syscall.SIGINT))
	other.awaitEnd(t)
	if code != exitDone || other.ProcessState.ExitCode() != exitInterrupted {
		t.Fatalf("exit %d\n%s\n%s\nthe other: %s", code, stdout, stderr, other.stderr.String())
	}
	both := []string{"verify", "--target", target, "--quiet", "--record", a, "--record", b}
	assert.Contains(t, must(t, both...), "ok      acknowledged purchases that were lost: expected 0, found 0\n")
	code, stdout, stderr = execute(t, "verify", "--target", target, "--quiet", "--record", a)
	assert.Equal(t, exitVerdict, code, "though the other's orders are there\n%s\n%s", stdout, stderr)
	// An order that only the second machine was told of.
	db := openDB(t, target)
	if _, err := db.Exec(`WITH last AS (SELECT max(o.orderid) AS orderid FROM orders o) , lines AS (DELETE FROM orderlines WHERE orderid = (SELECT orderid FROM last))
		DELETE FROM orders WHERE orderid = (SELECT orderid FROM last)`); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = execute(t, both...)
	if code != exitVerdict || !strings.Contains(stdout, "FAILED  acknowledged purchases that were lost: expected 0, found 1: orders ") {
		t.Errorf("an order was lost: exit %d\n%s\n%s", code, stdout, stderr)
	}
}

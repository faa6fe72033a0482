package main

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ds2/internal/result"
)

// TestCrashCommands kills and starts a server by commands of the user's: one that leaves the server's output open, as
// a server started in the background does, and ones that fail.
func TestCrashCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	server, target := loadedServer(t)
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	as := "" // root has to become the server's user
	var directory syscall.Stat_t
	if err := syscall.Stat(server.DataDir(), &directory); err != nil {
		t.Fatal(err)
	}
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

	drive := func(kill, start, out string) (code int, stdout, stderr string) {
		return execute(t, "drive", "--target", target, "--threads", "4", "--ramp-rate", "100", "--warmup-time", "0", "--run-time", "8s",
			"--crash-after", "2s", "--kill-command", kill, "--start-command", start, "--metrics-addr", "", "--quiet", "--out", out)
	}
	out := filepath.Join(t.TempDir(), "record")
	code, stdout, stderr := drive(kill, start, out)
	if code != exitDone || !strings.Contains(stdout, "The server was killed at ") {
		t.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	record, err := result.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if record.Crash == nil || record.Crash.Down <= 0 || record.Counts.Reconnects < 4 || !record.Audit.Passed {
		t.Errorf("crash %+v, %d reconnects, audit %+v", record.Crash, record.Counts.Reconnects, record.Audit)
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

package main

import (
	"bytes"
	"cmp"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/result"
)

// patience is when something counts as hanging that is waited for: a second is promised of what
// follows a second signal, which a busy machine does not keep; what hangs here, hangs for ever.
const patience = 5 * time.Minute

// output is what a program writes, to be read while it does.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// program is a ds2 in a separate process.
type program struct {
	*exec.Cmd
	name, out      string
	stdout, stderr output
	ended          chan struct{}
}

// startProgram prepares a ds2 in a separate directory, where --out is to be out.
func startProgram(t *testing.T, args ...string) *program {
	t.Helper()
	dir := t.TempDir()
	p := &program{
		Cmd: exec.Command("ds2", args...), name: args[0], out: filepath.Join(dir, "out"),
		ended: make(chan struct{}),
	}
	p.Dir, p.Stdout, p.Stderr = dir, &p.stdout, &p.stderr
	p.WaitDelay = time.Second
	return p
}

func (p *program) start(t *testing.T) {
	t.Helper()
	require.NoError(t, p.Start())
	go func() {
		defer close(p.ended)
		p.Wait()
	}()
	t.Cleanup(func() {
		p.Process.Kill()
		<-p.ended
	})
}

// begin starts a ds2 in a separate directory.
func begin(t *testing.T, args ...string) *program {
	t.Helper()
	p := startProgram(t, args...)
	p.start(t)
	return p
}

// driving starts a ds2 that makes a run, whose --out is out, and waits until it makes orders.
func driving(t *testing.T, args ...string) *program {
	t.Helper()
	p := begin(t, args...)
	p.awaitOrders(t)
	return p
}

func (p *program) awaitOrders(t *testing.T) {
	t.Helper()
	p.await(t, "orders", p.holds("out/run.log", "phase=run"))
}

// await waits until done is true.
func (p *program) await(t *testing.T, what string, done func() bool) {
	t.Helper()
	await(t, p.name+": "+what, func() bool {
		if done() {
			return true
		}
		require.False(t, p.endsWithin(0), "%s ended before %s:\n%s", p, what, &p.stderr)
		return false
	})
}

// page waits until the program says where its page is, and returns the host:port.
func (p *program) page(t *testing.T) string {
	t.Helper()
	var address string
	p.await(t, "its page", func() bool {
		_, rest, _ := strings.Cut(p.stderr.String(), "live page: http://")
		var whole bool
		address, _, whole = strings.Cut(rest, "/\n")
		return whole
	})
	return address
}

// endsWithin says whether the program ended in time.
func (p *program) endsWithin(d time.Duration) bool {
	select {
	case <-p.ended:
		return true
	default:
	}
	select {
	case <-p.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// awaitEnd waits until the program has ended.
func (p *program) awaitEnd(t *testing.T) {
	t.Helper()
	require.True(t, p.endsWithin(patience), "%s does not end: %s", p.name, &p.stderr)
}

// ends waits until the program has ended with an exit code.
func (p *program) ends(t *testing.T, code int) {
	t.Helper()
	p.awaitEnd(t)
	require.Equal(
		t,
		code,
		p.ProcessState.ExitCode(),
		"%s: %s\n%s%s",
		p.name,
		p.ProcessState,
		&p.stdout,
		&p.stderr,
	)
}

// holds tells whether a file under the program's directory holds a text.
func (p *program) holds(file, text string) func() bool {
	return func() bool {
		content, _ := os.ReadFile(filepath.Join(p.Dir, file))
		return strings.Contains(string(content), text)
	}
}

// troubledServer is a server behind a proxy, and what can befall it.
type troubledServer struct {
	*localpg.Server
	proxy *toxiproxy.Proxy
	admin *sql.DB // past the proxy
}

func newTroubledServer(t *testing.T) *troubledServer {
	t.Helper()
	server := pgtest.Start(
		t,
		localpg.Options{Checksums: true, Settings: map[string]string{"fsync": "off"}},
	)
	target := mustParse(t, server.URL("postgres"))
	proxies := toxiproxy.NewServer(
		toxiproxy.NewMetricsContainer(prometheus.NewRegistry()),
		zerolog.Nop(),
	)
	proxy := toxiproxy.NewProxy(proxies, "ds2", "127.0.0.1:0", target.Host)
	require.NoError(t, proxy.Start())
	t.Cleanup(proxy.Stop)
	return &troubledServer{server, proxy, pgtest.DB(t, target.String())}
}

// swallow has the network take all packets and deliver none.
func (s *troubledServer) swallow(t *testing.T) {
	for _, stream := range []string{"upstream", "downstream"} {
		toxic := fmt.Sprintf(
			`{"name": %q, "type": "timeout", "stream": %[1]q, "attributes": {"timeout": 0}}`,
			stream,
		)
		_, err := s.proxy.Toxics.AddToxicJson(strings.NewReader(toxic))
		require.NoError(t, err)
	}
}

// through is the URL of a database by way of the proxy.
func (s *troubledServer) through(t *testing.T, database string) string {
	t.Helper()
	u := mustParse(t, s.URL(database))
	u.Host = s.proxy.Listen
	return u.String()
}

// locked has a transaction of the test's own take locks by statements, so that who needs them comes
// to a halt.
func locked(t *testing.T, target string, statements ...string) {
	t.Helper()
	tx, err := pgtest.DB(t, target).Begin()
	require.NoError(t, err)
	t.Cleanup(func() { tx.Rollback() })
	pgtest.Exec(t, tx, statements...)
}

// signalAll sends a signal to the processes of the server whose cluster is in a directory.
func signalAll(t *testing.T, data string, s syscall.Signal) {
	t.Helper()
	for _, p := range pgtest.Processes(t, data) {
		pid, _ := strconv.Atoi(p)
		syscall.Kill(pid, s)
	}
}

// TestSecondSignal has every command at work when its server is no longer there, or answers no
// more. After the second signal it is gone, with exit code 130, and the record on disk can be read.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	s := newTroubledServer(t)
	must(t, "load", "--target", s.URL("origin"), "--size", "1MB", "--quiet")
	for _, trouble := range []struct {
		why         string
		also        bool
		begin, over func()
	}{
		{
			"the server is stopped", false,
			func() { signalAll(t, s.DataDir(), syscall.SIGSTOP) },
			func() { signalAll(t, s.DataDir(), syscall.SIGCONT) },
		},
		{"the network swallows all packets", true, func() { s.swallow(t) }, func() {
			s.proxy.Toxics.ResetToxics(t.Context())
			s.proxy.Stop()                 // and with it the connections that hang in it
			s.proxy.Listen = "127.0.0.1:0" // its port may be another's by now
			require.NoError(t, s.proxy.Start())
		}},
		{"the server is down", true, s.Kill, func() {}},
	} {
		t.Run(trouble.why, func(t *testing.T) {
			if trouble.also {
				nightly.Long(t, "starts all commands once more")
			}
			programs := commandsAtWork(t, s, func(string) bool { return true })
			trouble.begin()
			t.Cleanup(trouble.over)
			stopTwice(t, syscall.SIGINT, programs...)
		})
	}
}

// TestFirstSignal interrupts once, on a server that answers, every command that has no run to
// drain: it and its statement are gone, with exit code 130.
func TestFirstSignal(t *testing.T) {
	nightly.Long(t, "starts all commands; TestSecondSignal does, too")
	t.Parallel()
	s := newTroubledServer(t)
	must(t, "load", "--target", s.URL("origin"), "--size", "1MB", "--quiet")
	for _, p := range commandsAtWork(t, s, func(name string) bool {
		return !slices.Contains([]string{"drive", "bench", "experiment", "tune"}, name)
	}) {
		p.Process.Signal(syscall.SIGINT)
		p.ends(t, exitInterrupted)
	}
	pgtest.Await(
		t,
		s.admin,
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name LIKE 'ds2%' AND state <> 'idle'",
	)
}

// commandsAtWork starts every command that talks to a server, each on a separate database, and
// returns when all are amid their work. Those without are left out.
func commandsAtWork(t *testing.T, s *troubledServer, with func(name string) bool) []*program {
	run := func(command, more string) []string {
		return quick(command, s.through(t, command), "--run-time 10m --out out%s", more)
	}
	one := func(database, line string) []string {
		return words(line+" --target %s", s.through(t, database))
	}
	const tables = "LOCK TABLE customers, orders, orderlines, inventory, products, cust_hist IN ACCESS EXCLUSIVE MODE"
	const databases = "LOCK TABLE pg_database IN SHARE ROW EXCLUSIVE MODE" // taken once, last
	type command struct {
		name   string
		args   []string
		lock   string // that makes it come to a halt
		file   string // that says phase=run when it is at work
		within string // the database that it waits in, where it is not its own
		with   int    // how many others wait in it
	}
	commands := slices.DeleteFunc([]command{
		{name: "load", args: one("load", "load --size 500MB --parallel 1")},
		{name: "drive", args: run("drive", ""), file: "out/run.log"},
		{name: "bench", args: run("bench", noPauses), file: "out/run-1/run.log"},
		{
			name: "experiment",
			args: words("experiment threads.yaml --out out"),
			file: "out/threads-2/run-1/run.log",
		},
		{
			name: "tune",
			file: "out/01-2-users/run.log",
			args: one("tune", "tune --limit errors<50%% --start-threads 2 "+
				"--restore none --warmup-time 0 --run-time 10m --ramp-rate 100 --metrics-addr '' --out out"),
		},
		{name: "verify", args: one("verify", "verify"), lock: tables},
		{name: "deep", args: one("deep", "verify --deep"), lock: tables},
		{name: "reset", args: one("reset", "reset"), lock: tables},
		{
			name:   "snapshot",
			args:   one("snapshot", "snapshot create"),
			within: "postgres",
			lock:   databases,
		},
		{name: "restore", args: one("restore", "snapshot restore"), within: "postgres", with: 1},
	}, func(c command) bool { return !with(c.name) })
	for _, c := range commands {
		pgtest.Exec(t, s.admin, "DROP DATABASE IF EXISTS "+c.name+" WITH (FORCE)")
		if c.name != "load" {
			pgtest.Exec(t, s.admin, "CREATE DATABASE "+c.name+" TEMPLATE origin")
		}
	}
	if with("restore") {
		pgtest.Exec(t, s.admin, "DROP DATABASE IF EXISTS restore_ds2_snapshot",
			"CREATE DATABASE restore_ds2_snapshot TEMPLATE origin")
	}
	var all []*program
	awaited := 0
	await := func() {
		for ; awaited < len(all); awaited++ {
			p := all[awaited]
			c := commands[awaited]
			if c.file != "" {
				p.await(t, "orders", p.holds(c.file, "phase=run"))
				continue
			}
			atWork := "SELECT count(*) > 0 FROM pg_stat_progress_copy"
			if c.name != "load" { // it waits for a lock
				atWork = fmt.Sprintf(
					`SELECT count(*) > %d FROM pg_stat_activity WHERE datname = '%s'
					AND application_name LIKE 'ds2%%' AND wait_event_type = 'Lock'`,
					c.with,
					cmp.Or(c.within, c.name),
				)
			}
			p.await(t, atWork, func() bool { return pgtest.Value[bool](t, s.admin, atWork) })
		}
	}
	for _, c := range commands {
		p := startProgram(t, c.args...)
		p.name = c.name
		file := "target: " + s.through(
			t,
			"experiment",
		) + "\nrun-time: 10m\nfactors: {threads: [2]}\n" + noPausesYAML
		require.NoError(t, os.WriteFile(filepath.Join(p.Dir, "threads.yaml"), []byte(file), 0o644))
		if c.within != "" { // the load makes its database before
			await()
		}
		if c.lock != "" {
			locked(t, s.URL(cmp.Or(c.within, c.name)), c.lock)
		}
		p.start(t)
		all = append(all, p)
	}
	await()
	return all
}

// stopTwice sends two signals to all programs, and looks how they end.
func stopTwice(t *testing.T, second syscall.Signal, programs ...*program) {
	t.Helper()
	failed := map[*program]bool{} // by itself, before any signal
	for _, p := range programs {
		failed[p] = p.endsWithin(0)
		p.Process.Signal(syscall.SIGINT)
	}
	for _, p := range programs {
		for !p.endsWithin(20*time.Millisecond) && !strings.Contains(p.stderr.String(), "stopping: ") {
		}
	}
	for _, p := range programs {
		p.Process.Signal(second)
	}
	for _, p := range programs {
		if !p.endsWithin(patience) {
			p.Process.Signal(syscall.SIGQUIT) // says where
			p.awaitEnd(t)
			t.Errorf("%s is there %s after the second signal: %s", p.name, patience, &p.stderr)
			continue
		}
		// Else it was about to fail when the signal came.
		if !failed[p] && strings.Contains(p.stderr.String(), "stopping: ") {
			assert.Equal(t, exitInterrupted, p.ProcessState.ExitCode(), "%s\n%s", p.name, &p.stderr)
		}
		checkRecords(t, p)
	}
}

// checkRecords reads all records that a program left behind.
func checkRecords(t *testing.T, p *program) {
	t.Helper()
	filepath.WalkDir(p.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "run.log" {
			status := recordOf(t, filepath.Dir(path)).Status
			assert.True(
				t,
				status == result.Interrupted || status == result.Running,
				"%s: status %s",
				p.name,
				status,
			)
		}
		return nil
	})
	if p.name == "bench" {
		_, err := result.ReadSummary[result.Bench](p.out)
		assert.NoError(t, err)
	}
}

// TestSecondSignalOfGenerate has the reader of generate's output read nothing.
func TestSecondSignalOfGenerate(t *testing.T) {
	t.Parallel()
	p := startProgram(t, "generate", "--size", "1GB", "--part", "us_cust", "-")
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	p.Stdout = write
	p.start(t)
	write.Close()
	_, err = read.Read(make([]byte, 1))
	require.NoError(t, err)
	folder := begin(t, "generate", "--size", "1GB", "--out", "out")
	folder.await(t, "files", func() bool {
		files, _ := filepath.Glob(filepath.Join(folder.out, "*.partial"))
		return len(files) > 0
	})
	stopTwice(t, syscall.SIGTERM, p, folder)
	files, _ := filepath.Glob(filepath.Join(folder.out, "*.partial"))
	assert.Empty(t, files, "generate left files")
}

// TestSecondSignalOfDemo has the demo's own server answer no more, or be gone. Neither processes
// nor files of it stay behind.
func TestSecondSignalOfDemo(t *testing.T) {
	nightly.Long(t, "makes three clusters")
	for why, c := range map[string]struct{ trouble, second syscall.Signal }{
		"the server is stopped": {syscall.SIGSTOP, syscall.SIGINT},
		"the server is down":    {syscall.SIGKILL, syscall.SIGTERM},
		"nothing happened":      {0, syscall.SIGTERM},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			temp, err := os.MkdirTemp("/tmp", "ds2-demo-")
			require.NoError(t, err)
			t.Cleanup(func() { os.RemoveAll(temp) })
			require.NoError(t, os.Chmod(temp, 0o755))
			p := startProgram(
				t,
				words("demo --size 1MB --threads 2 --warmup-time 0 --run-time 10m --out out")...)
			p.Env = append(os.Environ(), "TMPDIR="+temp)
			p.start(t)
			p.awaitOrders(t)
			clusters, err := filepath.Glob(filepath.Join(temp, "*", "data"))
			require.True(t, err == nil && len(clusters) == 1, "clusters %v, %v", clusters, err)
			processes := pgtest.Processes(t, clusters[0])
			signalAll(t, clusters[0], c.trouble)
			stopTwice(t, c.second, p)
			// The exit code of an orphan may not have been fetched.
			state, err := os.ReadFile("/proc/" + processes[len(processes)-1] + "/stat")
			assert.True(t, err != nil || strings.Contains(string(state), ") Z "),
				"the server is still there: %s", state)
			left, _ := filepath.Glob(filepath.Join(temp, "*"))
			assert.Empty(t, left, "the demo left files")
		})
	}
}

// TestEndlessRun ends a run without an end in the only way there is: it is audited, to the last
// page, and all is well.
func TestEndlessRun(t *testing.T) {
	t.Parallel()
	p := driving(t, quick("drive", loaded(t), "--run-time 0 --verify deep --out out")...)
	p.Process.Signal(syscall.SIGINT)
	p.ends(t, exitDone)
	checkDone(t, p.out)
	deep := recordOf(t, p.out).DeepChecks
	assert.True(t, len(deep) == 1 && len(deep[0].Damage) == 0, "%+v", deep)
}

// checkDone looks whether a run was made to its end, with an audit that passed.
func checkDone(t *testing.T, dir string) {
	t.Helper()
	r := recordOf(t, dir)
	assert.True(t, r.Status == result.Done && r.Audit != nil && r.Audit.Passed,
		"status %s, audit %+v", r.Status, r.Audit)
}

// TestReaderWhoHasGone has who reads the output of a run, such as tee, die in mid-run: the run goes
// on to its end.
func TestReaderWhoHasGone(t *testing.T) {
	nightly.Long(t, "drives for 12 s")
	t.Parallel()
	p := startProgram(t, quick("drive", loaded(t), "--run-time 12s --out out")...)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	p.Stdout = write
	p.Stderr = write
	p.start(t)
	write.Close()
	p.awaitOrders(t)
	read.Close()          // before the first line of progress
	p.ends(t, exitFailed) // the result could not be printed
	checkDone(t, p.out)
}

// TestDemoKeep has the database of a demo stay until Ctrl-C.
func TestDemoKeep(t *testing.T) {
	t.Parallel()
	p := begin(
		t,
		words(
			"demo --keep --size 1MB --threads 2 --warmup-time 0 --run-time 1s --quiet --out out",
		)...)
	p.await(t, "URL", func() bool {
		return regexp.MustCompile("\npostgres://.*\n").MatchString(p.stdout.String())
	})
	target := lastLine(p.stdout.String())
	assert.NotEqual(t, "", pgtest.Contents(t, target)["orders"], "no orders")
	p.Process.Signal(syscall.SIGINT)
	p.ends(t, exitDone)
	db := pgtest.DB(t, "postgres://"+mustParse(t, target).Host+"/ds2?connect_timeout=1")
	assert.ErrorContains(t, db.Ping(), "connection refused")
}

// TestStopWithoutUsers has a stop say what it does where nothing runs yet.
func TestStopWithoutUsers(t *testing.T) {
	t.Parallel()
	p := begin(t, quick("drive", "postgres://x@"+silent(t, false)+"/ds2?sslmode=disable", "")...)
	p.await(
		t,
		"that it waits",
		func() bool { return strings.Contains(p.stderr.String(), "waiting for") },
	)
	require.NoError(t, p.Process.Signal(os.Interrupt))
	p.ends(t, exitInterrupted)
	require.Contains(t, p.stderr.String(), "stopping: no users are at work, so the command ends;")
}

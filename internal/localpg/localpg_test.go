package localpg

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	embedded "github.com/fergusstrange/embedded-postgres"
	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/nightly"
)

func TestMain(m *testing.M) {
	if os.Getenv("LOCALPG_TEST_OWNER") != "" {
		ownServerThenWait()
	}
	os.Exit(m.Run())
}

// start starts a server that the test stops.
func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop()) })
	return s
}

// connect opens a pool that the test closes.
func connect(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// query reads one value.
func query(t *testing.T, s *Server, statement string) string {
	t.Helper()
	var value string
	require.NoError(t, connect(t, s.URL("postgres")).QueryRow(statement).Scan(&value), statement)
	return value
}

// TestCacheIsDocumented: the page on removing ds2 names where a server that was fetched stays, which
// no package removes.
func TestCacheIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/howto/platforms.md")
	require.NoError(t, err)
	dir := cacheDir()
	if home, err := os.UserHomeDir(); err == nil && os.Geteuid() != 0 {
		dir = strings.Replace(dir, home, "~", 1)
	}
	assert.Contains(t, string(page), "`"+dir+"`")
}

func TestServer(t *testing.T) {
	t.Parallel()
	settings := map[string]string{"shared_buffers": "16MB", "application_name": "two words"}
	s := start(t, Options{Checksums: true, Settings: settings})
	for statement, want := range map[string]string{
		"SHOW data_checksums":      "on",
		"SHOW shared_buffers":      "16MB",
		"SHOW application_name":    "two words",
		"SHOW listen_addresses":    "127.0.0.1",
		"SHOW data_directory":      s.DataDir(),
		"SHOW server_encoding":     "UTF8",
		"SELECT current_user":      User,
		"SHOW password_encryption": "scram-sha-256",
	} {
		assert.Equal(t, want, query(t, s, statement), statement)
	}
	assert.Regexp(t, "^"+regexp.QuoteMeta(s.Version()), query(t, s, "SHOW server_version"))

	wrong := strings.Replace(s.URL("postgres"), ":"+s.password+"@", ":wrong@", 1)
	assert.Error(t, connect(t, wrong).Ping(), "a wrong password was let in")

	require.NoError(t, s.Stop())
	assert.NoDirExists(t, s.home)
}

func TestKillAndRestart(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	_, err := connect(t, s.URL("postgres")).Exec("CREATE TABLE t AS SELECT 'kept' AS word")
	require.NoError(t, err)
	url := s.URL("postgres")

	children := childrenOf(s.process.Load().cmd.Process.Pid)
	require.NotEqual(t, 0, len(children), "the server has no child processes")
	s.Kill()
	for _, child := range children {
		assert.False(t, alive(child), "process %d outlived Kill", child)
	}
	recoveries := func() int {
		said, err := os.ReadFile(s.LogFile())
		require.NoError(t, err)
		return strings.Count(string(said), "automatic recovery in progress")
	}
	require.NoError(t, s.Restart(t.Context()))
	assert.Equal(t, url, s.URL("postgres"), "URL changed from")
	assert.Equal(t, "kept", query(t, s, "SELECT word FROM t"), "after the crash the table")
	assert.Equal(t, 1, recoveries(), "after the crash")
	require.NoError(t, s.Restart(t.Context()))
	assert.Equal(t, 1, recoveries(), "after a restart in order")
}

// TestRestartAmidKill restarts a server whose postmaster was killed, while that waits for its
// children.
func TestRestartAmidKill(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	p := s.process.Load()
	p.killing.Lock() // as kill does
	p.cmd.Process.Kill()
	<-p.exited
	var gone atomic.Bool
	time.AfterFunc(
		500*time.Millisecond,
		func() { // the children end when they see that their parent is gone
			gone.Store(true)
			p.killing.Unlock()
		},
	)
	assert.NoError(t, s.Restart(t.Context()))
	assert.True(t, gone.Load(), "the children are gone")
}

func TestStartErrors(t *testing.T) {
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "precious"), nil, 0o600))
	for name, c := range map[string]struct {
		options Options
		want    string
	}{
		"a bad setting: the error quotes the server": {
			Options{Settings: map[string]string{"shared_buffers": "lots"}},
			`invalid value for parameter "shared_buffers": "lots"`,
		},
		"a data directory in use is left alone": {Options{DataDir: full}, "is not empty"},
		"a directory without a server":          {Options{BinDir: full}, "find initdb"},
		"an unknown version":                    {Options{Version: 9}, "only versions 13 to 18"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", openTempDir(t))
			_, err := Start(t.Context(), c.options)
			require.ErrorContains(t, err, c.want)
			nothingIn(t, os.TempDir())
		})
	}
	assert.FileExists(t, filepath.Join(full, "precious"))
}

// nothingIn makes sure that a directory is empty.
func nothingIn(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left, dir)
}

func TestStartCancelled(t *testing.T) {
	t.Setenv("TMPDIR", openTempDir(t))
	ctx, cancel := context.WithTimeout(
		t.Context(),
		200*time.Millisecond,
	) // in the middle of initdb, or before it
	defer cancel()
	_, err := Start(ctx, Options{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	nothingIn(t, os.TempDir())
}

// openTempDir is a temporary directory that the server's user may enter.
func openTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "localpg-test-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// TestClosedTempDir is root's TMPDIR in a home that only root may enter.
func TestClosedTempDir(t *testing.T) {
	closed := openTempDir(t)
	require.NoError(t, os.Chmod(closed, 0o700))
	t.Setenv("TMPDIR", closed)
	s := start(t, Options{})
	assert.Equal(t, "up", query(t, s, "SELECT 'up'"))
}

// TestOwnerKilled kills the process that started a server, as an out-of-memory killer would.
func TestOwnerKilled(t *testing.T) {
	t.Setenv("TMPDIR", openTempDir(t)) // where no other package's tests look for orphans
	owner := exec.Command(os.Args[0])
	owner.Env = append(os.Environ(), "LOCALPG_TEST_OWNER=1")
	out, err := owner.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, owner.Start())
	var pid int
	var home string
	_, err = fmt.Fscanln(out, &pid, &home)
	require.NoError(t, err, "what the owner says")
	require.True(t, alive(pid), "no server with pid %d", pid)
	require.NoError(t, owner.Process.Signal(syscall.SIGKILL))
	owner.Wait()
	for alive(pid) { // the test binary's time limit ends it
		time.Sleep(pollInterval)
	}
	next := start(t, Options{})
	assert.NoDirExists(t, home, "the next server leaves what the killed owner left")
	start(t, Options{})
	assert.FileExists(t, next.LogFile(), "what belongs to a living owner")
}

// ownServerThenWait is the owner of TestOwnerKilled.
func ownServerThenWait() {
	s, err := Start(context.Background(), Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(s.process.Load().cmd.Process.Pid, s.home)
	select {}
}

// TestFetched runs a server that was fetched, whether one is installed or not.
func TestFetched(t *testing.T) {
	nightly.Long(t, "fetches 15 MB")
	cache := openTempDir(t)
	t.Setenv("TMPDIR", t.TempDir())
	dir, err := fetch(t.Context(), embedded.V18, cache, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	entries, err := os.ReadDir(cache)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "the cache holds the server alone")
	nothingIn(t, os.TempDir())
	t.Setenv("TMPDIR", "")
	s := start(t, Options{BinDir: dir})
	assert.Equal(t, s.Version(), query(t, s, "SHOW server_version"))
	assert.Regexp(t, `^18\.`, s.Version())
	again, err := fetch(t.Context(), embedded.V18, cache, slog.New(slog.DiscardHandler))
	assert.True(t, err == nil && again == dir, "the second time: %q, %v; want %q", again, err, dir)
}

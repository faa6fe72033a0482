// Package pgtest gives tests a real PostgreSQL: one server for a test binary, a fresh database for
// each test.
package pgtest

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
)

var (
	inMain    bool
	server    *localpg.Server
	errStart  error
	startOnce sync.Once
	databases atomic.Int64
)

// Main runs the tests and then stops the server, if one of them asked for it. A package that uses
// Database has
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
// A test binary that panics or runs out of time never comes back here: the server then ends with
// it.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run runs the tests, stops the server and returns the exit code.
func Run(m *testing.M) int {
	inMain = true
	code := m.Run()
	if server != nil {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	return code
}

// versionVariable asks for a server of a major version, such as 13; make versions sets it.
const versionVariable = "DS2_TEST_POSTGRES_VERSION"

// Version is the major version that a test's server is to have; 0: the newest one installed.
func Version(t testing.TB) int {
	t.Helper()
	version, err := strconv.Atoi(cmp.Or(os.Getenv(versionVariable), "0"))
	require.NoError(t, err, versionVariable)
	return version
}

// Server is the test binary's server, started by the first test that asks. Tests that kill or
// restart a server, or change what all databases share, start a separate one.
func Server(t testing.TB) *localpg.Server {
	t.Helper()
	require.True(t, inMain,
		"this package's TestMain must be pgtest.Main, so that the server is stopped")
	version := Version(t)
	startOnce.Do(func() {
		// Not t.Context(): the server outlives the test that asks first.
		server, errStart = localpg.Start(context.Background(), localpg.Options{
			Version: version,
			// Nothing here tests a power cut.
			Settings: map[string]string{"fsync": "off", "max_connections": "200"},
		})
	})
	require.NoError(t, errStart)
	return server
}

// Start starts a server that is the test's own, and gone with it, of the version that is asked for.
func Start(t testing.TB, o localpg.Options) *localpg.Server {
	t.Helper()
	o.Version = cmp.Or(o.Version, Version(t))
	s, err := localpg.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop()) })
	return s
}

// MoveLog moves a server's write-ahead log to a directory on another drive.
func MoveLog(t testing.TB, s *localpg.Server, dir string) {
	t.Helper()
	s.Kill()
	wal := filepath.Join(s.DataDir(), "pg_wal")
	move := exec.Command("sh", "-ec", `cp -a "$0" "$1"; rm -r "$0"; ln -s "$1" "$0"`,
		wal, filepath.Join(dir, "pg_wal"))
	out, err := move.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, s.Restart(t.Context()))
}

// Database makes an empty database for the test, dropped at its end, and returns its URL.
func Database(t testing.TB) string {
	t.Helper()
	return Copy(t, "template1")
}

// Copy is Database with the contents of a database of the test's server, without connections, or
// only for a moment more.
func Copy(t testing.TB, database string) string {
	t.Helper()
	s := Server(t)
	name := fmt.Sprintf("test%d", databases.Add(1))
	db := DB(t, s.URL("postgres"))
	t.Cleanup(func() { Exec(t, db, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	db.SetMaxIdleConns(0)
	for {
		_, err := db.Exec("CREATE DATABASE " + name + " TEMPLATE " + database)
		if err != nil && strings.Contains(err.Error(), "55006") {
			continue // a session of the other has yet to end
		}
		require.NoError(t, err)
		return s.URL(name)
	}
}

// As is a target's URL with another user.
func As(t testing.TB, target, user, password string) string {
	t.Helper()
	u, err := url.Parse(target)
	require.NoError(t, err)
	u.User = url.UserPassword(user, password)
	return u.String()
}

// Processes are those of the server whose cluster is in a directory, the postmaster last.
func Processes(t testing.TB, data string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	require.NoError(t, err)
	postmaster, _, _ := strings.Cut(string(content), "\n")
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%[1]s/task/%[1]s/children", postmaster))
	return append(strings.Fields(string(children)), postmaster)
}

// Exec executes statements one after the other, also when the test has ended.
func Exec(t testing.TB, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, statements ...string,
) {
	t.Helper()
	for _, statement := range statements {
		_, err := db.ExecContext(context.Background(), statement)
		require.NoError(t, err, statement)
	}
}

// Counted waits until the sessions of a database have ended, all but the one that asks: the server
// counts the last that a session did when it ends. The pool keeps no session from now on.
func Counted(t testing.TB, db *sql.DB) {
	t.Helper()
	db.SetMaxIdleConns(0)
	Await(t, db, `SELECT count(*) = 0 FROM pg_stat_activity
		WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`)
	if Value[int](t, db, "SELECT current_setting('server_version_num')::integer") < 150000 {
		time.Sleep(time.Second) // they may show what was counted half a second ago
	}
}

// Await asks again and again until a query says that it is so.
func Await(t testing.TB, db *sql.DB, query string) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for ; !Value[bool](t, db, query); time.Sleep(10 * time.Millisecond) {
		require.False(t, time.Now().After(deadline), "after minutes it is not so: %s", query)
	}
}

// Contents gives for each table of a database its number of rows and a sum over the hashes of all
// of them, which does not depend on their order. What a reset notes in ds2_info for the next, and
// which run was the last to work on it, is none of them.
func Contents(t testing.TB, url string) map[string]string {
	t.Helper()
	db := DB(t, url)
	defer db.Close() // a database that is copied next has no connections
	const tables = "SELECT coalesce(string_agg(tablename, ' '), '') FROM pg_tables WHERE schemaname = 'public'"
	const sum = "SELECT count(*) || ' rows, sum ' || coalesce(sum(hashtextextended(r::text, 0)), 0) FROM %q r " +
		`WHERE r::text !~ '^.("statistics of |last_run,)'`
	contents := map[string]string{}
	for table := range strings.FieldsSeq(Value[string](t, db, tables)) {
		contents[table] = Value[string](t, db, fmt.Sprintf(sum, table))
	}
	return contents
}

// Value is the one value that a query gives.
func Value[T any](t testing.TB, db *sql.DB, query string) (v T) {
	t.Helper()
	require.NoError(t, db.QueryRow(query).Scan(&v), query)
	return v
}

// Open opens a store of a target for the test, with an engine's Open.
func Open[S interface{ Close() error }](
	t testing.TB,
	open func(*url.URL) (S, error),
	target string,
) S {
	t.Helper()
	u, err := url.Parse(target)
	require.NoError(t, err)
	s, err := open(u)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// DB is a pool of connections to a database, which is closed when the test ends.
func DB(t testing.TB, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

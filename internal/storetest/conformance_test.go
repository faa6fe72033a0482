package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/load"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/sqlservertest"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/store/sqlserver"
	"ds2/internal/workload/ds2/calls"
	ds2postgres "ds2/internal/workload/ds2/postgres"
	ds2sqlserver "ds2/internal/workload/ds2/sqlserver"
)

// engine is an engine under test.
type engine struct {
	open  store.Opener  // gives a store.Database
	calls calls.Connect // those of DVD Store 2 on it

	// database makes the URL of a database that is empty or does not exist yet, and is gone when
	// the test ends.
	database func(t testing.TB) string

	// kill is SQL that ends all connections to the database but the one it runs on.
	kill string

	// missing is the class of a statement on a table that does not exist: store.Config where it is
	// empty.
	missing store.Class

	// phrase says that the browses by full text look for the words in their order, next to each
	// other.
	phrase bool
}

// killPostgres is engine.kill of PostgreSQL.
const killPostgres = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
	WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`

// killSQLServer is engine.kill of SQL Server.
const killSQLServer = `DECLARE @sql varchar(max) = '';
	SELECT @sql = @sql + 'KILL ' + CAST(session_id AS varchar(10)) + '; '
	FROM sys.dm_exec_sessions WHERE database_id = DB_ID() AND session_id <> @@SPID AND is_user_process = 1;
	EXEC(@sql);`

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	holdEngine(t, engine{
		open: postgres.Open, calls: ds2postgres.Connect, database: inSchema, kill: killPostgres,
	})
}

// inSchema makes an empty database whose tables come into a schema with a name that SQL must quote.
func inSchema(t testing.TB) string {
	t.Helper()
	target := pgtest.Database(t)
	pgtest.Exec(t, pgtest.DB(t, target), `CREATE SCHEMA "An App"`, `DO $$ BEGIN
		EXECUTE format('ALTER DATABASE %I SET search_path = "An App"', current_database()); END $$`)
	return target
}

// TestConformanceOfSQLServer needs a server: sqlservertest.
func TestConformanceOfSQLServer(t *testing.T) {
	e := engine{
		open:     sqlserver.Open,
		calls:    ds2sqlserver.Connect,
		database: sqlservertest.Database,
		kill:     killSQLServer,
		phrase:   true,
	}
	if sqlservertest.IsBabelfish(t, sqlservertest.Database(t)) {
		e.missing = store.Bug // its number for that is the one for everything that it has none for
	}
	holdEngine(t, e)
}

// holdEngine runs the suite on an engine, or some of its tests.
func holdEngine(t *testing.T, e engine, only ...string) {
	target := e.database(t)
	s := &suite{engine: e, target: target, store: pgtest.Open(t, e.open, target)}
	_, err := load.Run(t.Context(), s.store, Loading(t, Size, smallParts))
	require.NoError(t, err)
	for _, test := range []struct {
		name string
		run  func(*suite, *testing.T)
	}{
		{"every row of the dataset", (*suite).testContents},
		{"login", (*suite).testLogin},
		{"new customer", (*suite).newCustomer},
		{"two new customers of one name", (*suite).newCustomerRace},
		{"browse by category", (*suite).browseByCategory},
		{"browse by actor and title", (*suite).browseByWords},
		{"prices", (*suite).testPrices},
		{"purchase", (*suite).testPurchase},
		{"purchase rolled back", (*suite).testRollback},
		{"purchase of a product twice", (*suite).testDuplicates},
		{"concurrent purchases", (*suite).testConcurrent},
		{"restock in concurrent purchases", (*suite).concurrentRestock},
		{"restock of every row", (*suite).testRestock},
		{"cancelled context", (*suite).testCancelled},
		{"killed connection", (*suite).testKilled},
		{"work in doubt", (*suite).inDoubt},
		{"sales and stock after all that", (*suite).testBooks},
		{"reset", (*suite).testReset},
		{"what runs ask", (*suite).testQuestions},
		{"steps of a load", (*suite).testSteps},
		{"load that is broken and resumed", (*suite).testResume},
		{"lock", (*suite).testLock},
	} {
		if len(only) == 0 || slices.Contains(only, test.name) {
			t.Run(test.name, func(t *testing.T) { test.run(s, t) })
		}
	}
}

type suite struct {
	engine engine
	target string
	store  store.Database
}

// openSession opens a session that is closed when the test ends.
func (s *suite) openSession(t *testing.T) calls.Session {
	t.Helper()
	session, err := s.engine.calls(t.Context(), s.store)
	require.NoError(t, err)
	t.Cleanup(func() { session.Close(context.Background()) })
	return session
}

// queryNumber is the one number that a query gives.
func (s *suite) queryNumber(t *testing.T, query string, args ...any) int64 {
	t.Helper()
	return pgtest.Value[int64](t, s.store.DB(), fmt.Sprintf(query, args...))
}

// countRows is how many rows of a table there are; the table may be followed by WHERE.
func (s *suite) countRows(t *testing.T, table string, args ...any) int64 {
	t.Helper()
	return s.queryNumber(t, "SELECT COUNT(*) FROM "+table, args...)
}

func (s *suite) execStatement(t *testing.T, statement string, args ...any) {
	t.Helper()
	pgtest.Exec(t, s.store.DB(), fmt.Sprintf(statement, args...))
}

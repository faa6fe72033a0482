package sqlserver_test

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/sqlservertest"
	"ds2/internal/store"
	"ds2/internal/store/sqlserver"
	"ds2/schema"
)

// These tests need a server: sqlservertest.

// open makes a store of a URL.
func open(t testing.TB, target string) *sqlserver.Store {
	t.Helper()
	return pgtest.Open(t, sqlserver.Open, target).(*sqlserver.Store)
}

// created is a store of a new database, in which some statements were run.
func created(t *testing.T, statements ...string) *sqlserver.Store {
	t.Helper()
	s := open(t, sqlservertest.Database(t))
	create := []schema.Statement{{Name: "create database", SQL: "CREATE DATABASE " + s.Name()}}
	require.NoError(t, s.CreateDatabase(t.Context(), create))
	for _, statement := range statements {
		_, err := s.DB().ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	return s
}

// TestScrub reads a database to its end twice.
func TestScrub(t *testing.T) {
	s := created(t,
		"CREATE TABLE a (id int NOT NULL PRIMARY KEY CLUSTERED, body varbinary(7000) NOT NULL)",
		"CREATE TABLE empty (id int NOT NULL)",
		"CREATE TABLE b (id int NOT NULL, body varbinary(7000) NOT NULL)",
		`DECLARE @i int = 0; WHILE @i < 300 BEGIN
			INSERT INTO a VALUES (@i, CAST(REPLICATE(CAST('x' AS varchar(8000)), 7000) AS varbinary(7000)));
			INSERT INTO b VALUES (@i, CAST(REPLICATE(CAST('x' AS varchar(8000)), 7000) AS varbinary(7000)));
			SET @i = @i + 1; END`)
	var all int64
	for _, table := range []string{"dbo.a", "dbo.b"} {
		bytes, err := s.TableBytes(t.Context(), table)
		require.NoError(t, err)
		all += bytes
	}
	r, err := s.OpenScrub(t.Context())
	require.NoError(t, err)
	defer r.Close()
	for pass := range 2 {
		var bytes int64
		for requests := 1; ; requests++ {
			read, err := r.Read(t.Context())
			require.NoError(t, err)
			if bytes += read.Bytes; read.Bytes > 2*store.ScrubRequest || requests > 1000 {
				t.Fatalf("request %d: %+v", requests, read)
			}
			if read.Last {
				break
			}
		}
		if bytes < all*95/100 || bytes > all*105/100 {
			t.Errorf("pass %d: %d bytes of %d", pass, bytes, all)
		}
	}
}

// TestDeadlock has each of two transactions ask for the row that the other holds: one is the
// victim, the other goes on.
func TestDeadlock(t *testing.T) {
	s := created(t, `CREATE TABLE stock (id int PRIMARY KEY, n int);
		INSERT INTO stock VALUES (1, 0), (2, 0)`)
	const update = "UPDATE stock SET n = n + 1 WHERE id = @p1"
	var both [2]*sql.Tx
	for i := range both {
		var err error
		both[i], err = s.DB().BeginTx(t.Context(), nil)
		require.NoError(t, err)
		defer both[i].Rollback()
		_, err = both[i].ExecContext(t.Context(), update, 1+i)
		require.NoError(t, err)
	}
	failures := make(chan error)
	for i, tx := range both {
		go func() {
			_, err := tx.ExecContext(t.Context(), update, 2-i)
			if err != nil {
				tx.Rollback() // lets the other go on
			}
			failures <- s.Wrap("purchase", err)
		}()
	}
	victim := <-failures
	other := <-failures
	if victim == nil {
		victim, other = other, victim
	}
	e, ok := victim.(*store.Error)
	if other != nil || !ok || e.Class != store.Deadlock || e.Code != "1205" {
		t.Errorf("one got %v (%s), the other %v", victim, store.Classify(victim), other)
	}
}

// TestFullTextWait runs the wait for a full-text index on a server, with a table in place of what
// SQL Server tells of the index and no time in place of the half hour.
func TestFullTextWait(t *testing.T) {
	s := created(t, `CREATE TABLE PRODUCTS (id int); INSERT INTO PRODUCTS VALUES (1), (2), (3);
		CREATE TABLE told (
			has_crawl_completed int, ItemCount int, PopulateStatus int, PendingChanges int, FailCount int);
		INSERT INTO told VALUES (0, 0, 0, 0, 0)`)
	statements, err := schema.Statements(
		"sqlserver",
		schema.Indexes,
		schema.Params{Database: s.Name()},
	)
	require.NoError(t, err)
	wait := statements[slices.IndexFunc(statements, func(statement schema.Statement) bool {
		return statement.Name == "wait for full-text index"
	})].SQL
	for _, replaced := range [][2]string{
		{"OBJECTPROPERTYEX(@table, 'TableFulltextItemCount')", "(SELECT ItemCount FROM told)"},
		{
			"OBJECTPROPERTYEX(@table, 'TableFulltextPopulateStatus')",
			"(SELECT PopulateStatus FROM told)",
		},
		{
			"OBJECTPROPERTYEX(@table, 'TableFulltextPendingChanges')",
			"(SELECT PendingChanges FROM told)",
		},
		{"OBJECTPROPERTYEX(@table, 'TableFulltextFailCount')", "(SELECT FailCount FROM told)"},
		{"sys.fulltext_indexes WHERE object_id = @table", "told"},
		{">= 30", ">= 0"},
		{"WAITFOR DELAY '00:00:01';", ""}, // which Babelfish does not know
	} {
		require.Contains(t, wait, replaced[0])
		wait = strings.ReplaceAll(wait, replaced[0], replaced[1])
	}
	const fails, pauses, lacks = 50004, 50006, 50005
	for _, c := range []struct {
		why                                        string
		crawled, items, status, pending, failCount int
		want                                       int32 // the number of its error; 0: it ends well
	}{
		{"filled", 1, 3, 0, 0, 0, 0},
		{"updated in the background, and every row is there", 1, 3, 4, 0, 0, 0},
		{"updated in the background, and rows are to come", 1, 2, 4, 0, 0, pauses},
		{"paused", 1, 2, 5, 0, 0, pauses},
		{"not begun", 0, 0, 0, 0, 0, pauses},
		{"changes are pending", 1, 3, 0, 1, 0, pauses},
		{"in error", 1, 0, 6, 0, 0, fails},
		{"a row failed", 1, 3, 0, 0, 1, lacks},
		{"a row is not there", 1, 2, 0, 0, 0, lacks},
	} {
		_, err := s.DB().
			ExecContext(t.Context(), `UPDATE told SET has_crawl_completed = @p1, ItemCount = @p2,
			PopulateStatus = @p3, PendingChanges = @p4, FailCount = @p5`,
				c.crawled, c.items, c.status, c.pending, c.failCount)
		require.NoError(t, err)
		_, err = s.DB().ExecContext(t.Context(), wait)
		failed, _ := errors.AsType[mssql.Error](err)
		if (err != nil || c.want != 0) && failed.Number != c.want {
			t.Errorf("%s: %v, want %d", c.why, err, c.want)
		}
	}
}

package sqlserver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/store/sqlserver/target"
	"ds2/schema"
)

// TestFullTextWait runs the wait for a full-text index on a server, with a table in place of what SQL Server tells of
// the index and no time in place of the half hour.
func TestFullTextWait(t *testing.T) {
	s := created(t, `CREATE TABLE PRODUCTS (id int); INSERT INTO PRODUCTS VALUES (1), (2), (3);
		CREATE TABLE told (
			has_crawl_completed int, ItemCount int, PopulateStatus int, PendingChanges int, FailCount int);
		INSERT INTO told VALUES (0, 0, 0, 0, 0)`)
	statements, err := schema.Statements("sqlserver", schema.Indexes, schema.Params{Database: s.Name()})
	require.NoError(t, err)
	wait := statements[slices.IndexFunc(statements, func(statement schema.Statement) bool {
		return statement.Name == "wait for full-text index"
	})].SQL
	for _, replaced := range [][2]string{
		{"OBJECTPROPERTYEX(@table, 'TableFulltextItemCount')", "(SELECT ItemCount FROM told)"},
		{"OBJECTPROPERTYEX(@table, 'TableFulltextPopulateStatus')", "(SELECT PopulateStatus FROM told)"},
		{"OBJECTPROPERTYEX(@table, 'TableFulltextPendingChanges')", "(SELECT PendingChanges FROM told)"},
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
		_, err := s.DB().ExecContext(t.Context(), `UPDATE told SET has_crawl_completed = @p1, ItemCount = @p2,
			PopulateStatus = @p3, PendingChanges = @p4, FailCount = @p5`,
			c.crawled, c.items, c.status, c.pending, c.failCount)
		require.NoError(t, err)
		_, err = s.DB().ExecContext(t.Context(), wait)
		if (err != nil || c.want != 0) && !target.HasNumber(err, c.want) {
			t.Errorf("%s: %v, want %d", c.why, err, c.want)
		}
	}
}

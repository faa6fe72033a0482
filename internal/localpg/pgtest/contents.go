package pgtest

import (
	"fmt"
	"strings"
	"testing"
)

// Contents gives for each table of a database its number of rows and a sum over the hashes of all of them, which does
// not depend on their order. What a reset notes for the next, in ds2_info, is none of them.
func Contents(t testing.TB, url string) map[string]string {
	t.Helper()
	db := DB(t, url)
	defer db.Close() // a database that is copied next has no connections
	const tables = "SELECT coalesce(string_agg(tablename, ' '), '') FROM pg_tables WHERE schemaname = 'public'"
	const sum = "SELECT count(*) || ' rows, sum ' || coalesce(sum(hashtextextended(r::text, 0)), 0) FROM %q r " +
		"WHERE r::text !~ '^.\"statistics of '"
	contents := map[string]string{}
	for table := range strings.FieldsSeq(Value[string](t, db, tables)) {
		contents[table] = Value[string](t, db, fmt.Sprintf(sum, table))
	}
	return contents
}

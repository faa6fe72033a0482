package pgtest

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Contents gives for each table of a database its number of rows and a sum over the hashes of all of them, which does
// not depend on their order.
func Contents(t testing.TB, url string) map[string]string {
	t.Helper()
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer db.Close()
	rows, err := db.Query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
	require.NoError(t, err)
	defer rows.Close()
	contents := map[string]string{}
	for rows.Next() {
		var table, sum string
		require.NoError(t, rows.Scan(&table))
		query := fmt.Sprintf("SELECT count(*) || ' rows, sum ' || coalesce(sum(hashtextextended(r::text, 0)), 0) FROM %q r", table)
		require.NoError(t, db.QueryRow(query).Scan(&sum))
		contents[table] = sum
	}
	require.NoError(t, rows.Err())
	return contents
}

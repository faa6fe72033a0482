package pgtest

import (
	"database/sql"
	"fmt"
	"testing"
)

// Contents gives for each table of a database its number of rows and a sum over the hashes of all of them, which does not
// depend on their order.
func Contents(t testing.TB, url string) map[string]string {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	contents := map[string]string{}
	for rows.Next() {
		var table, sum string
		if err := rows.Scan(&table); err != nil {
			t.Fatal(err)
		}
		query := fmt.Sprintf("SELECT count(*) || ' rows, sum ' || coalesce(sum(hashtextextended(r::text, 0)), 0) FROM %q r", table)
		if err := db.QueryRow(query).Scan(&sum); err != nil {
			t.Fatal(err)
		}
		contents[table] = sum
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return contents
}

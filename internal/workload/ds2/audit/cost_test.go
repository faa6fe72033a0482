package audit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/audit"
)

// TestCost counts the pages that an audit reads: after a run, of the large tables what the run added, with 64 pages
// that the server may have made room in before, and an index of ORDERS and CUSTOMERS; of the whole database each large
// table once, and ORDERS twice, for its own columns and beside its lines. A count of ORDERS more is allowed for: so
// small a table costs no more than its index. Neither writes a temporary file. It is the same where the server has no
// statistics, or stale ones, as soon after a reset or a restore.
func TestCost(t *testing.T) {
	s, run := loadedSize(t, datagen.S)
	for _, table := range []string{"customers", "orders", "orderlines", "cust_hist"} {
		pgtest.Exec(t, s.DB(), "ALTER TABLE "+table+" SET (autovacuum_enabled = false)")
	}
	const tables = "IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)"
	run1 := map[string]float64{"cust_hist": 0.3, "orderlines": 0.05, "orders": 1.15, "customers": 0.05}
	whole1 := map[string]float64{"cust_hist": 1, "orderlines": 1, "orders": 3.15, "customers": 0.05}
	for _, c := range []struct {
		scope  string
		before string
		whole  bool
		most   map[string]float64 // times the table's pages
	}{
		{"run", "", false, run1},
		{"whole", "", true, whole1},
		{"run with stale statistics",
			"UPDATE pg_class SET relpages = 1, reltuples = 10 WHERE oid " + tables, false, run1},
		{"run without statistics", "DELETE FROM pg_statistic WHERE starelid " + tables +
			"; UPDATE pg_class SET relpages = 0, reltuples = -1 WHERE oid " + tables, false, run1},
	} {
		pgtest.Exec(t, s.DB(), c.before)
		pgtest.Counted(t, s.DB())
		before, _, temp := pagesRead(t, s)
		assert.Empty(t, check(t, s, workload.Audit{Run: run, Whole: c.whole}), c.scope)
		pgtest.Counted(t, s.DB())
		after, pages, tempAfter := pagesRead(t, s)
		for table, most := range c.most {
			read := float64(after[table] - before[table])
			assert.LessOrEqual(t, read, most*float64(pages[table])+10, "%s: pages of %s", c.scope, table)
		}
		if c.whole {
			read := after["cust_hist"] - before["cust_hist"]
			assert.GreaterOrEqual(t, read, pages["cust_hist"], "%s: pages of cust_hist", c.scope)
		}
		assert.Equal(t, temp, tempAfter, "%s: wrote %d bytes of temporary files", c.scope, tempAfter-temp)
	}
}

// pagesRead are the pages of each table that were read so far, how many it has, and the bytes of temporary files.
func pagesRead(t *testing.T, s store.Database) (read, has map[string]int64, temp int64) {
	t.Helper()
	rows, err := s.DB().QueryContext(t.Context(), `
		SELECT relname, heap_blks_read + heap_blks_hit, pg_relation_size(relid) / 8192,
			(SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()) FROM pg_statio_user_tables`)
	require.NoError(t, err)
	defer rows.Close()
	read, has = map[string]int64{}, map[string]int64{}
	for rows.Next() {
		var name string
		var r, h int64
		require.NoError(t, rows.Scan(&name, &r, &h, &temp))
		read[name], has[name] = r, h
	}
	return read, has, temp
}

// TestMarksReadNoTable: just before a run no page of a table is read but at the end of two indexes: after a load that
// was marked, after a run, after a reset to the rows of the load, and beside a note of another time. The marks are what
// reading all would give.
func TestMarksReadNoTable(t *testing.T) {
	s, _ := loadedSize(t, datagen.S) // marked after the load, and after an order
	for _, c := range []struct {
		state, change string
		noted         bool
	}{
		{"after a run", "", true},
		{"after a run without marks", `
			INSERT INTO orders (orderdate, customerid, netamount, tax, totalamount) VALUES ('2026-11-21', 5, 1, 1, 2);
			UPDATE inventory SET sales = sales + 1 WHERE prod_id = 9`, false},
		{"as loaded", `
			DELETE FROM orders WHERE orderid > 12000; UPDATE inventory SET sales = sales - 1 WHERE prod_id IN (7, 9);
			UPDATE inventory SET sales = sales - 2 WHERE prod_id = 8`, true},
	} {
		pgtest.Exec(t, s.DB(), c.change)
		pgtest.Counted(t, s.DB())
		before, has, _ := pagesRead(t, s)
		got, err := audit.ReadMarks(t.Context(), s, false)
		require.NoError(t, err)
		pgtest.Counted(t, s.DB())
		after, _, _ := pagesRead(t, s)
		read := func(table string) int64 { return after[table] - before[table] }
		assert.Equal(t, c.noted, read("inventory") == 0, "%s: read %d pages of inventory", c.state, read("inventory"))
		for _, table := range []string{"customers", "orders", "orderlines", "cust_hist", "products"} {
			assert.LessOrEqual(t, read(table), int64(5), "%s: of %d pages of %s", c.state, has[table], table)
		}
		assert.Equal(t, marks(t, s)[audit.Sales], got[audit.Sales], "%s: sales", c.state)
	}
}

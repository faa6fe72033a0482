package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/storetest"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/audit"
	"ds2/internal/workload/ds2/calls"
	ds2postgres "ds2/internal/workload/ds2/postgres"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// engines has the calls that the audit tries.
var engines = calls.Engines{postgres.Engine: ds2postgres.Connect}

var size = datagen.Size{Customers: 100, OrdersPerMonth: 10, Products: 300}

// loaded is a fresh database with a dataset and one order made since, with two new customers; and
// the account of it.
func loaded(t *testing.T, size datagen.Size) (store.Database, *workload.Account) {
	t.Helper()
	s := storetest.Loaded(t, postgres.Open, size)
	before := marks(t, s)
	pgtest.Exec(t, s.DB(), `
		INSERT INTO customers (firstname, lastname, address1, city, country, region,
				creditcardtype, creditcard, creditcardexpiration, username, password)
			SELECT 'A', 'B', 'C', 'D', 'US', 1, 1, '1', '2012/01', 'newuser' || n, 'password'
			FROM generate_series(1, 2) n;
		INSERT INTO orders (orderdate, customerid, netamount, tax, totalamount)
			VALUES ('2026-11-21', 5, 59.97, 4.95, 64.92);
		INSERT INTO orderlines SELECT line, max(orderid), line + 6, line, '2026-11-21'
			FROM orders, generate_series(1, 2) line GROUP BY line;
		INSERT INTO cust_hist SELECT 5, max(orderid), prod_id
			FROM orders, generate_series(7, 8) prod_id GROUP BY prod_id;
		UPDATE inventory SET sales = sales + 1, quan_in_stock = quan_in_stock - 1 WHERE prod_id = 7;
		UPDATE inventory SET sales = sales + 2, quan_in_stock = quan_in_stock - 2 WHERE prod_id = 8;`)
	run := &workload.Account{
		Counts: measure.Counts{Names: &calls.Counts},
		Before: before,
		After:  marks(t, s),
	}
	set(
		run,
		counted{
			calls.Purchases:    2,
			calls.Rollbacks:    1,
			calls.NewCustomers: 2,
			calls.TotalCents:   6492,
		},
	)
	return s, run
}

// counted are counts by their places.
type counted map[int]int64

func set(run *workload.Account, numbers counted) {
	for place, n := range numbers {
		run.Counts.Own[place] = n
	}
}

func marks(t *testing.T, s store.Database) result.Marks {
	t.Helper()
	m, err := audit.ReadMarks(t.Context(), s, true)
	require.NoError(t, err)
	return m
}

func check(t *testing.T, s store.Database, o workload.Audit) (failed []string) {
	t.Helper()
	checks, err := audit.Check(t.Context(), s, engines, nil, o)
	require.NoError(t, err)
	for _, c := range checks {
		if !c.Passed {
			failed = append(failed, c.Name+": expected "+c.Expected+", found "+c.Found)
		}
	}
	assert.Equal(t, len(failed) == 0, result.Passed(checks), "these failed: %q", failed)
	return failed
}

// scopes are the audit after a run and that of the whole database.
var scopes = map[string]bool{"run": false, "whole": true}

// damage is one thing that is broken, and the check that is about it with what it finds.
type damage struct{ why, sql, want string }

// orphans is what the check of a foreign key says.
func orphans(table, column, parent string, found int) string {
	return fmt.Sprintf(
		"rows of %s whose %s is not in %s: expected 0, found %d",
		table,
		column,
		parent,
		found,
	)
}

// The beginnings of what other checks say, and the rows of an order of the dataset.
const (
	disagree   = "products of an order that orderlines and cust_hist do not agree on: expected 0, found "
	anothers   = "cust_hist rows of another customer than their order's: expected 0, found "
	misnumber  = "orders whose lines are not numbered from 1 on: expected 0, found "
	unsound    = "products whose sales are not the sum of their order lines: expected 0, found "
	oldLine    = "WHERE orderid = 7 AND orderlineid = 1"
	oldHistory = "WHERE ctid = (SELECT min(ctid) FROM cust_hist WHERE orderid = 7)"
)

// ofRun is damage to what a run did, and to what any audit counts; ofDataset is what only that of
// the whole database looks at.
var (
	ofRun = []damage{
		{
			"a customer is lost", "UPDATE customers SET customerid = 999 WHERE customerid = 100",
			"customers of the dataset: expected 100, found 99",
		},
		{
			"an order is lost", "UPDATE orders SET orderid = 999 WHERE orderid = 120",
			"orders of the dataset: expected 120, found 119",
		},
		{
			"a product is too many",
			"INSERT INTO products SELECT 301, category, title, actor, price, special, 1" +
				" FROM products WHERE prod_id = 1",
			"products: expected 300, found 301",
		},
		{
			"an inventory row is lost", "UPDATE inventory SET prod_id = 999 WHERE prod_id = 1",
			orphans("inventory", "prod_id", "products", 1),
		},
		{
			"a category is lost",
			"DELETE FROM categories WHERE category = 16",
			"categories: expected 16, found 15",
		},
		{
			"an order without customer", "UPDATE orders SET customerid = 999 WHERE orderid = 121",
			orphans("orders", "customerid", "customers", 1),
		},
		{
			"lines of no order", "UPDATE orderlines SET orderid = 999 WHERE orderid = 121",
			orphans("orderlines", "orderid", "orders", 2),
		},
		{
			"a history without customer",
			"UPDATE cust_hist SET customerid = 999 WHERE orderid = 121",
			orphans("cust_hist", "customerid", "customers", 2),
		},
		{
			"an unknown reorder", "INSERT INTO reorder VALUES (999, '2026-11-21', 1)",
			orphans("reorder", "prod_id", "products", 1),
		},
		{
			"an order without lines",
			"UPDATE orderlines SET orderid = 1, orderlineid = orderlineid + 50" +
				" WHERE orderid = 121",
			"orders without lines: expected 0, found 1",
		},
		{
			"a gap in the lines",
			"UPDATE orderlines SET orderlineid = 3 WHERE orderid = 121 AND orderlineid = 2",
			misnumber + "1",
		},
		{
			"a purchase without history",
			"DELETE FROM cust_hist WHERE orderid = 121 AND prod_id = 8",
			disagree + "1",
		},
		{
			"a history of another customer",
			"UPDATE cust_hist SET customerid = 6 WHERE orderid = 121 AND prod_id = 8",
			anothers + "1",
		},
		{
			"a lost update of sales",
			"UPDATE inventory SET sales = sales - 1 WHERE prod_id = 8",
			unsound + "1",
		},
		{
			"a stock oversold",
			"UPDATE inventory SET quan_in_stock = quan_in_stock - 9999 WHERE prod_id = 8",
			"products with a negative stock: expected 0, found 1",
		},
		{
			"a wrong net", "UPDATE orders SET netamount = 59.96 WHERE orderid = 121",
			"new orders whose net is not the sum of price × quantity: expected 0, found 1",
		},
		{
			"a tax a cent too high", "UPDATE orders SET tax = 4.96 WHERE orderid = 121",
			"new orders whose tax is not 8.25 % of the net: expected 0, found 1",
		},
		{
			"a wrong total", "UPDATE orders SET totalamount = 64.93 WHERE orderid = 121",
			"sum of the totals of the run's orders: expected 64.92, found 64.93",
		},
		{
			"an order that the run knows, lost",
			"UPDATE orders SET orderid = 122 WHERE orderid = 121",
			"orders of the run: purchases less rollbacks: expected 1, found 0",
		},
		{
			"a new customer lost", "UPDATE customers SET customerid = 999 WHERE customerid = 102",
			"new customers of the run: expected 2, found 1",
		},
	}
	ofDataset = []damage{
		{
			"an order without customer", "UPDATE orders SET customerid = 999 WHERE orderid = 7",
			orphans("orders", "customerid", "customers", 1),
		},
		{
			"a line of no order", "UPDATE orderlines SET orderid = 999 " + oldLine,
			orphans("orderlines", "orderid", "orders", 1),
		},
		{
			"a line of an order below all", "UPDATE orderlines SET orderid = -3 " + oldLine,
			orphans("orderlines", "orderid", "orders", 1),
		},
		{
			"a line of no product", "UPDATE orderlines SET prod_id = 999 " + oldLine,
			orphans("orderlines", "prod_id", "products", 1),
		},
		{
			"a history without customer", "UPDATE cust_hist SET customerid = 999 " + oldHistory,
			orphans("cust_hist", "customerid", "customers", 1),
		},
		{
			"a history of no product", "UPDATE cust_hist SET prod_id = 999 " + oldHistory,
			orphans("cust_hist", "prod_id", "products", 1),
		},
		{
			"a history of no order", "UPDATE cust_hist SET orderid = 999 " + oldHistory,
			orphans("cust_hist", "orderid", "orders", 1),
		},
		{
			"a history too many",
			"INSERT INTO cust_hist SELECT * FROM cust_hist " + oldHistory,
			disagree + "1",
		},
		{
			"an order without lines", "DELETE FROM orderlines WHERE orderid = 7",
			"orders without lines: expected 0, found 1",
		},
		{
			"a gap in the lines",
			"UPDATE orderlines SET orderlineid = 50 " + oldLine,
			misnumber + "1",
		},
		{
			"a history of another customer",
			"UPDATE cust_hist SET customerid = customerid % 100 + 1 " + oldHistory,
			anothers + "1",
		},
		{
			"histories that changed places",
			"UPDATE cust_hist h SET prod_id = o.prod_id FROM (SELECT a.ctid, b.prod_id" +
				" FROM cust_hist a JOIN cust_hist b ON b.orderid = 15 - a.orderid WHERE a.orderid IN (7, 8)" +
				" AND a.ctid IN (SELECT min(ctid) FROM cust_hist WHERE orderid IN (7, 8) GROUP BY orderid)" +
				" AND b.ctid IN (SELECT min(ctid) FROM cust_hist WHERE orderid IN (7, 8) GROUP BY orderid)) o" +
				" WHERE h.ctid = o.ctid",
			disagree + "4",
		},
		{
			"a line with another quantity",
			"UPDATE orderlines SET quantity = quantity + 1 " + oldLine,
			unsound + "1",
		},
	}
)

// TestDamage breaks one thing after the other and wants the check that is about it to fail, with
// what it finds. What is right passes.
func TestDamage(t *testing.T) {
	t.Parallel()
	s, run := loaded(t, size)
	// Damage is done where the engine's own keys would not let it happen.
	pgtest.Exec(t, s.DB(), `ALTER TABLE cust_hist DROP CONSTRAINT fk_cust_hist_customerid;
		ALTER TABLE orders DROP CONSTRAINT fk_customerid; ALTER TABLE orderlines DROP CONSTRAINT fk_orderid;
		ALTER TABLE inventory DISABLE TRIGGER USER`)
	var repair string
	for _, table := range append(slices.Clone(datagen.Tables), "categories") {
		pgtest.Exec(t, s.DB(), fmt.Sprintf("CREATE TABLE kept_%s AS SELECT * FROM %[1]s", table))
		repair += fmt.Sprintf("TRUNCATE %s; INSERT INTO %[1]s SELECT * FROM kept_%[1]s; ", table)
	}
	repair += "TRUNCATE reorder"
	find := func(scope string, d damage) {
		t.Helper()
		failed := check(t, s, workload.Audit{Run: run, Whole: scopes[scope]})
		assert.Contains(t, strings.Join(failed, "\n"), d.want, "%s, %s", d.why, scope)
	}
	for i, d := range append(ofRun, ofDataset...) {
		pgtest.Exec(t, s.DB(), d.sql)
		find("whole", d)
		if i < len(ofRun) {
			find("run", d)
		}
		pgtest.Exec(t, s.DB(), repair)
	}
	for scope, whole := range scopes {
		assert.Empty(
			t,
			check(t, s, workload.Audit{Run: run, Whole: whole}),
			"%s: after all repairs",
			scope,
		)
	}
	for _, of := range []string{"title", "actor"} {
		pgtest.Exec(t, s.DB(), fmt.Sprintf("CREATE OR REPLACE FUNCTION ds2_browse_by_%[1]s"+
			"(batch_size_in integer, %[1]s_in text) RETURNS SETOF products LANGUAGE sql STABLE ROWS 5"+
			" AS 'SELECT * FROM products WHERE prod_id < 0'", of))
		missed := fmt.Sprintf(
			"products that a search for a known %s misses: expected 0, found 1",
			of,
		)
		for scope := range scopes {
			find(scope, damage{want: missed})
		}
	}
}

// TestChangedDataset is a run that changes what it should leave alone: where no count tells, the
// server's counters do.
func TestChangedDataset(t *testing.T) {
	s, run := loaded(t, size)
	want := "rows updated or deleted in tables to which the run only adds: expected 0, found "
	changes := []string{"UPDATE cust_hist SET prod_id = 1", "DELETE FROM cust_hist"}
	if pgtest.Value[int](t, s.DB(), "SELECT current_setting('server_version_num')::int") < 150000 {
		changes = changes[:1]
	}
	for _, change := range changes {
		run.Before[audit.Changed] = marks(t, s)[audit.Changed]
		pgtest.Exec(t, s.DB(), change+" WHERE orderid = 7")
		pgtest.Counted(t, s.DB())
		run.After = marks(t, s)
		failed := check(t, s, workload.Audit{Run: run})
		assert.True(
			t,
			len(failed) == 1 && strings.HasPrefix(failed[0], want),
			"%s: %q, want %q",
			change,
			failed,
			want,
		)
	}
}

// TestInDoubt is work whose commit may have been lost with its connection: both answers are right.
func TestInDoubt(t *testing.T) {
	s, account := loaded(t, size)
	keys := func(m result.Marks) [2]int64 {
		return [...]int64{m[audit.LastCustomer], m[audit.LastOrder]}
	}
	assert.Equal(t, [...]int64{100, 120}, keys(account.Before))
	assert.Equal(t, [...]int64{102, 121}, keys(account.After))
	for _, c := range []struct {
		name   string
		counts counted
		ok     bool
	}{
		{"the purchase in doubt is there", counted{
			calls.Purchases: 1, calls.InDoubtPurchases: 1,
			calls.TotalCents: 0, calls.InDoubtTotalCents: 6492,
		}, true},
		{"it is not there", counted{calls.InDoubtPurchases: 1, calls.InDoubtTotalCents: 999}, true},
		{
			"one is there that was never asked",
			counted{calls.Purchases: 1, calls.TotalCents: 0},
			false,
		},
		{
			"the customer in doubt is there",
			counted{calls.NewCustomers: 1, calls.InDoubtCustomers: 1},
			true,
		},
	} {
		run := *account
		set(&run, c.counts)
		failed := check(t, s, workload.Audit{Run: &run})
		assert.Equal(t, c.ok, len(failed) == 0, "%s: failed %q", c.name, failed)
	}
}

// TestWhatCannotBeAudited, and what can: sizes of tables, which a user may have no right to see,
// are for progress only.
func TestWhatCannotBeAudited(t *testing.T) {
	s, _ := loaded(t, size)
	pgtest.Exec(t, s.DB(), "CREATE ROLE auditor LOGIN PASSWORD 'x'",
		"GRANT SELECT ON ALL TABLES IN SCHEMA public TO auditor",
		"REVOKE EXECUTE ON FUNCTION pg_table_size(regclass) FROM PUBLIC")
	t.Cleanup(func() { pgtest.Exec(t, s.DB(), "DROP OWNED BY auditor", "DROP ROLE auditor") })
	database := pgtest.Server(t).URL(pgtest.Value[string](t, s.DB(), "SELECT current_database()"))
	check(
		t,
		pgtest.Open(t, postgres.Open, pgtest.As(t, database, "auditor", "x")),
		workload.Audit{Whole: true},
	)
	ask := func(size *datagen.Size) error {
		_, err := audit.Check(t.Context(), s, engines, size, workload.Audit{Whole: true})
		return err
	}
	const other = "it holds a dataset of size customers=100,orders-per-month=10,products=300, not S"
	assert.ErrorContains(t, ask(&datagen.S), other)
	pgtest.Exec(t, s.DB(), "UPDATE ds2_info SET value = 'loading' WHERE name = 'state'")
	assert.ErrorContains(t, ask(nil), "its load was not finished")
	pgtest.Exec(t, s.DB(), "DROP TABLE ds2_info") // as DS2's own scripts load it
	assert.NoError(t, ask(&size), "its size is given")
	assert.ErrorContains(t, ask(nil), "ds2_info")
}

// TestHistoryInRoomOfOthers: rows of a run that lie before those that the load made last, where
// room was made, are found too; and one that is missing there is missed.
func TestHistoryInRoomOfOthers(t *testing.T) {
	s, run := loaded(t, datagen.S)
	pgtest.Exec(t, s.DB(), `CREATE TABLE kept AS SELECT * FROM cust_hist; TRUNCATE cust_hist;
		INSERT INTO cust_hist SELECT * FROM kept WHERE orderid > 12000;
		INSERT INTO cust_hist SELECT * FROM kept WHERE orderid <= 12000; DROP TABLE kept`)
	const last = "SELECT max((ctid::text::point)[0]) FROM cust_hist WHERE orderid > 12000"
	require.LessOrEqual(t, pgtest.Value[int](t, s.DB(), last), 10, "the rows lie on page")
	assert.Empty(t, check(t, s, workload.Audit{Run: run}), "failed")
	pgtest.Exec(t, s.DB(), "DELETE FROM cust_hist WHERE orderid > 12000 AND prod_id = 7")
	assert.Equal(
		t,
		[]string{disagree + "1"},
		check(t, s, workload.Audit{Run: run}),
		"with a lost row",
	)
}

// TestCost counts the pages that an audit reads: after a run, of the large tables what the run
// added, with 64 pages that the server may have made room in before, and an index of ORDERS and
// CUSTOMERS; of the whole database each large table once. A count of ORDERS more is allowed for: so
// small a table costs no more than its index. Neither writes a temporary file. It is the same where
// the server has no statistics, or stale ones, as soon after a reset or a restore.
func TestCost(t *testing.T) {
	s, run := loaded(t, datagen.S)
	for _, table := range []string{"customers", "orders", "orderlines", "cust_hist"} {
		pgtest.Exec(t, s.DB(), "ALTER TABLE "+table+" SET (autovacuum_enabled = false)")
	}
	const tables = "IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)"
	run1 := map[string]float64{
		"cust_hist":  0.3,
		"orderlines": 0.05,
		"orders":     1.15,
		"customers":  0.05,
	}
	whole1 := map[string]float64{
		"cust_hist":  1,
		"orderlines": 1.05,
		"orders":     2.2,
		"customers":  1.05,
	}
	if !hashesRows(t, s) {
		// Before version 14 ORDERS is read once more beside its lines, and what lies behind a row
		// of CUST_HIST is not read alone.
		whole1["orders"] = 3.15
		run1["cust_hist"] = 1
	}
	for _, c := range []struct {
		scope  string
		before string
		whole  bool
		most   map[string]float64 // times the table's pages
	}{
		{"run", "", false, run1},
		{"whole", "", true, whole1},
		{
			"run with stale statistics",
			"UPDATE pg_class SET relpages = 1, reltuples = 10 WHERE oid " + tables, false, run1,
		},
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
			assert.LessOrEqual(
				t,
				read,
				most*float64(pages[table])+10,
				"%s: pages of %s",
				c.scope,
				table,
			)
		}
		if c.whole {
			read := after["cust_hist"] - before["cust_hist"]
			assert.GreaterOrEqual(t, read, pages["cust_hist"], "%s: pages of cust_hist", c.scope)
		}
		assert.Equal(
			t,
			temp,
			tempAfter,
			"%s: wrote %d bytes of temporary files",
			c.scope,
			tempAfter-temp,
		)
	}
}

// pagesRead are the pages of each table that were read so far, how many it has, and the bytes of
// temporary files.
func pagesRead(t *testing.T, s store.Database) (read, has map[string]int64, temp int64) {
	t.Helper()
	rows, err := s.DB().QueryContext(t.Context(), `
		SELECT relname, heap_blks_read + heap_blks_hit, pg_relation_size(relid) / 8192,
			(SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()) FROM pg_statio_user_tables`)
	require.NoError(t, err)
	defer rows.Close()
	read = map[string]int64{}
	has = map[string]int64{}
	for rows.Next() {
		var name string
		var r, h int64
		require.NoError(t, rows.Scan(&name, &r, &h, &temp))
		read[name] = r
		has[name] = h
	}
	return read, has, temp
}

// TestMarksReadNoTable: just before a run no page of a table is read but at the end of two indexes:
// after a load that was marked, after a run, after a reset to the rows of the load, and beside a
// note of another time. The marks are what reading all would give.
func TestMarksReadNoTable(t *testing.T) {
	s, _ := loaded(t, datagen.S) // marked after the load, and after an order
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
		assert.Equal(
			t,
			c.noted,
			read("inventory") == 0,
			"%s: read %d pages of inventory",
			c.state,
			read("inventory"),
		)
		for _, table := range []string{"customers", "orders", "orderlines", "cust_hist", "products"} {
			assert.LessOrEqual(
				t,
				read(table),
				int64(5),
				"%s: of %d pages of %s",
				c.state,
				has[table],
				table,
			)
		}
		assert.Equal(t, marks(t, s)[audit.Sales], got[audit.Sales], "%s: sales", c.state)
	}
}

package audit_test

import (
	"strings"
	"testing"
	"time"

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
	"ds2/internal/workload/ds2/counts"
	ds2postgres "ds2/internal/workload/ds2/postgres"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// engines has the calls that the audit tries.
var engines = calls.Engines{postgres.Engine: ds2postgres.Connect}

var size = datagen.Size{Customers: 100, OrdersPerMonth: 10, Products: 300}

// loaded is a fresh database with a small dataset and one order made since, with two new customers; and the account of
// it.
func loaded(t *testing.T) (store.Database, *workload.Account) {
	t.Helper()
	return loadedSize(t, size)
}

func loadedSize(t *testing.T, size datagen.Size) (store.Database, *workload.Account) {
	t.Helper()
	s := storetest.Loaded(t, postgres.Open, size)
	// No UPDATE, which the server might count after the marks.
	pgtest.Exec(t, s.DB(), "ALTER TABLE products ALTER price TYPE numeric(12, 2) USING CASE WHEN prod_id IN (7, 8) THEN 20.01 ELSE price END")
	before := marks(t, s)
	pgtest.Exec(t, s.DB(), `
		INSERT INTO customers (firstname, lastname, address1, city, country, region, creditcardtype, creditcard, creditcardexpiration, username, password)
			SELECT 'A', 'B', 'C', 'D', 'US', 1, 1, '1', '2012/01', 'newuser' || n, 'password' FROM generate_series(1, 2) n;
		INSERT INTO orders (orderdate, customerid, netamount, tax, totalamount) VALUES ('2026-11-21', 5, 60.03, 4.95, 64.98);
		INSERT INTO orderlines SELECT line, max(orderid), line + 6, line, '2026-11-21' FROM orders, generate_series(1, 2) line GROUP BY line;
		INSERT INTO cust_hist SELECT 5, max(orderid), prod_id FROM orders, generate_series(7, 8) prod_id GROUP BY prod_id;
		UPDATE inventory SET sales = sales + 1 WHERE prod_id = 7;
		UPDATE inventory SET sales = sales + 2 WHERE prod_id = 8;`)
	names := counts.All
	counted := measure.Counts{Names: &names}
	counted.Own[counts.Purchases], counted.Own[counts.Rollbacks], counted.Own[counts.NewCustomers], counted.Own[counts.TotalCents] = 2, 1, 2, 6498
	return s, &workload.Account{
		Counts: counted,
		Before: before, After: marks(t, s),
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

func TestWhatIsRightPasses(t *testing.T) {
	s, run := loaded(t)
	for scope, whole := range scopes {
		assert.Empty(t, check(t, s, workload.Audit{Run: run, Whole: whole}), "%s: failed", scope)
	}
	if run.Before[audit.LastCustomer] != 100 || run.Before[audit.LastOrder] != 120 || run.After[audit.LastCustomer] != 102 || run.After[audit.LastOrder] != 121 {
		t.Errorf("marks %+v, %+v", run.Before, run.After)
	}
}

// TestDamage breaks one thing a line and wants the check that is about it to fail, with what it finds.
func TestDamage(t *testing.T) {
	t.Parallel()
	s, run := loaded(t)
	// Damage is done where the engine's own keys would not let it happen.
	pgtest.Exec(t, s.DB(), `ALTER TABLE cust_hist DROP CONSTRAINT fk_cust_hist_customerid; ALTER TABLE orders DROP CONSTRAINT fk_customerid;
		ALTER TABLE orderlines DROP CONSTRAINT fk_orderid; ALTER TABLE inventory DISABLE TRIGGER USER`)
	for _, c := range []struct{ why, damage, repair, want string }{
		{"a customer is lost", "UPDATE customers SET customerid = 999 WHERE customerid = 100", "UPDATE customers SET customerid = 100 WHERE customerid = 999",
			"customers of the dataset: expected 100, found 99"},
		{"an order is lost", "UPDATE orders SET orderid = 999 WHERE orderid = 120", "UPDATE orders SET orderid = 120 WHERE orderid = 999",
			"orders of the dataset: expected 120, found 119"},
		{"a product is too many", "INSERT INTO products SELECT 301, category, title, actor, price, special, 1 FROM products WHERE prod_id = 1",
			"DELETE FROM products WHERE prod_id = 301", "products: expected 300, found 301"},
		{"a search for a title that finds nothing",
			"CREATE OR REPLACE FUNCTION ds2_browse_by_title(batch_size_in integer, title_in text) RETURNS SETOF products LANGUAGE sql STABLE ROWS 5 AS 'SELECT * FROM products WHERE prod_id < 0'",
			"CREATE OR REPLACE FUNCTION ds2_browse_by_title(batch_size_in integer, title_in text) RETURNS SETOF products LANGUAGE sql STABLE ROWS 5 AS 'SELECT * FROM products WHERE title = title_in LIMIT batch_size_in'",
			"products that a search for a known title misses: expected 0, found 1"},
		{"a search for an actor that finds nothing",
			"CREATE OR REPLACE FUNCTION ds2_browse_by_actor(batch_size_in integer, actor_in text) RETURNS SETOF products LANGUAGE sql STABLE ROWS 5 AS 'SELECT * FROM products WHERE prod_id < 0'",
			"CREATE OR REPLACE FUNCTION ds2_browse_by_actor(batch_size_in integer, actor_in text) RETURNS SETOF products LANGUAGE sql STABLE ROWS 5 AS 'SELECT * FROM products WHERE actor = actor_in LIMIT batch_size_in'",
			"products that a search for a known actor misses: expected 0, found 1"},
		{"an inventory row is lost", "UPDATE inventory SET prod_id = 999 WHERE prod_id = 1", "UPDATE inventory SET prod_id = 1 WHERE prod_id = 999",
			"rows of inventory whose prod_id is not in products: expected 0, found 1"},
		{"a category is lost", "DELETE FROM categories WHERE category = 16", "INSERT INTO categories VALUES (16, 'Travel')", "categories: expected 16, found 15"},
		{"an order of nobody", "UPDATE orders SET customerid = 999 WHERE orderid = 121", "UPDATE orders SET customerid = 5 WHERE orderid = 121",
			"rows of orders whose customerid is not in customers: expected 0, found 1"},
		{"lines of no order", "UPDATE orderlines SET orderid = 999 WHERE orderid = 121", "UPDATE orderlines SET orderid = 121 WHERE orderid = 999",
			"rows of orderlines whose orderid is not in orders: expected 0, found 2"},
		{"a history of nobody", "UPDATE cust_hist SET customerid = 999 WHERE orderid = 121", "UPDATE cust_hist SET customerid = 5 WHERE orderid = 121",
			"rows of cust_hist whose customerid is not in customers: expected 0, found 2"},
		{"an unknown reorder", "INSERT INTO reorder VALUES (999, '2026-11-21', 1)", "DELETE FROM reorder WHERE prod_id = 999",
			"rows of reorder whose prod_id is not in products: expected 0, found 1"},
		{"an order without lines", "UPDATE orderlines SET orderid = 1, orderlineid = orderlineid + 50 WHERE orderid = 121",
			"UPDATE orderlines SET orderid = 121, orderlineid = orderlineid - 50 WHERE orderlineid > 50", "orders without lines: expected 0, found 1"},
		{"a gap in the lines", "UPDATE orderlines SET orderlineid = 3 WHERE orderid = 121 AND orderlineid = 2",
			"UPDATE orderlines SET orderlineid = 2 WHERE orderid = 121 AND orderlineid = 3", "orders whose lines are not numbered from 1 on: expected 0, found 1"},
		{"a purchase without history", "DELETE FROM cust_hist WHERE orderid = 121 AND prod_id = 8", "INSERT INTO cust_hist VALUES (5, 121, 8)",
			"products of an order that orderlines and cust_hist do not agree on: expected 0, found 1"},
		{"a history of another customer", "UPDATE cust_hist SET customerid = 6 WHERE orderid = 121 AND prod_id = 8",
			"UPDATE cust_hist SET customerid = 5 WHERE orderid = 121", "cust_hist rows of another customer than their order's: expected 0, found 1"},
		{"a lost update of sales", "UPDATE inventory SET sales = sales - 1 WHERE prod_id = 8", "UPDATE inventory SET sales = sales + 1 WHERE prod_id = 8",
			"products whose sales are not the sum of their order lines: expected 0, found 1"},
		{"a stock oversold", "UPDATE inventory SET quan_in_stock = quan_in_stock - 9999 WHERE prod_id = 8",
			"UPDATE inventory SET quan_in_stock = quan_in_stock + 9999 WHERE prod_id = 8", "products with a negative stock: expected 0, found 1"},
		{"a wrong net", "UPDATE orders SET netamount = 60.02 WHERE orderid = 121", "UPDATE orders SET netamount = 60.03 WHERE orderid = 121",
			"new orders whose net is not the sum of price × quantity: expected 0, found 1"},
		{"a tax a cent too high", "UPDATE orders SET tax = 4.96 WHERE orderid = 121", "UPDATE orders SET tax = 4.95 WHERE orderid = 121",
			"new orders whose tax is not 8.25 % of the net: expected 0, found 1"},
		{"a wrong total", "UPDATE orders SET totalamount = 64.99 WHERE orderid = 121", "UPDATE orders SET totalamount = 64.98 WHERE orderid = 121",
			"sum of the totals of the run's orders: expected 64.98, found 64.99"},
		{"an order that the run knows, lost", "UPDATE orders SET orderid = 122 WHERE orderid = 121", "UPDATE orders SET orderid = 121 WHERE orderid = 122",
			"orders of the run: purchases less rollbacks: expected 1, found 0"},
		{"a new customer lost", "UPDATE customers SET customerid = 999 WHERE customerid = 102", "UPDATE customers SET customerid = 102 WHERE customerid = 999",
			"new customers of the run: expected 2, found 1"},
	} {
		pgtest.Exec(t, s.DB(), c.damage)
		for scope, whole := range scopes {
			failed := check(t, s, workload.Audit{Run: run, Whole: whole})
			if !strings.Contains(strings.Join(failed, "\n"), c.want) {
				t.Errorf("%s, %s: want %q, got %q", c.why, scope, c.want, failed)
			}
		}
		pgtest.Exec(t, s.DB(), c.repair)
	}
	for scope, whole := range scopes {
		assert.Empty(t, check(t, s, workload.Audit{Run: run, Whole: whole}), "%s: after all repairs", scope)
	}
}

// TestOldDamage breaks rows of the dataset, one thing a line: the audit of the whole database finds it, and that after
// a run does not look.
func TestOldDamage(t *testing.T) {
	t.Parallel()
	s, run := loaded(t)
	pgtest.Exec(t, s.DB(), `ALTER TABLE cust_hist DROP CONSTRAINT fk_cust_hist_customerid; ALTER TABLE orders DROP CONSTRAINT fk_customerid;
		ALTER TABLE orderlines DROP CONSTRAINT fk_orderid; ALTER TABLE inventory DISABLE TRIGGER USER;
		CREATE TABLE kept AS SELECT * FROM orderlines; CREATE TABLE kept_hist AS SELECT * FROM cust_hist; CREATE TABLE kept_orders AS SELECT * FROM orders`)
	for _, c := range []struct{ why, damage, want string }{
		{"an order of nobody", "UPDATE orders SET customerid = 999 WHERE orderid = 7", "rows of orders whose customerid is not in customers: expected 0, found 1"},
		{"lines of no order", "UPDATE orderlines SET orderid = 999 WHERE orderid = 7 AND orderlineid = 1", "rows of orderlines whose orderid is not in orders: expected 0, found 1"},
		{"lines of an order below all", "UPDATE orderlines SET orderid = -3 WHERE orderid = 7 AND orderlineid = 1", "rows of orderlines whose orderid is not in orders: expected 0, found 1"},
		{"a line of no product", "UPDATE orderlines SET prod_id = 999 WHERE orderid = 7 AND orderlineid = 1", "rows of orderlines whose prod_id is not in products: expected 0, found 1"},
		{"a history of nobody", "UPDATE cust_hist SET customerid = 999 WHERE ctid = (SELECT min(ctid) FROM cust_hist WHERE orderid = 7)", "rows of cust_hist whose customerid is not in customers: expected 0, found 1"},
		{"a history of no product", "UPDATE cust_hist SET prod_id = 999 WHERE ctid = (SELECT min(ctid) FROM cust_hist WHERE orderid = 7)", "rows of cust_hist whose prod_id is not in products: expected 0, found 1"},
		{"a history of no order", "UPDATE cust_hist SET orderid = 999 WHERE ctid = (SELECT min(ctid) FROM cust_hist WHERE orderid = 7)", "rows of cust_hist whose orderid is not in orders: expected 0, found 1"},
		{"a history too many", "INSERT INTO cust_hist SELECT * FROM cust_hist WHERE ctid = (SELECT min(ctid) FROM cust_hist WHERE orderid = 7)", "products of an order that orderlines and cust_hist do not agree on: expected 0, found 1"},
		{"an order without lines", "DELETE FROM orderlines WHERE orderid = 7", "orders without lines: expected 0, found 1"},
		{"a gap in the lines", "UPDATE orderlines SET orderlineid = 50 WHERE orderid = 7 AND orderlineid = 1", "orders whose lines are not numbered from 1 on: expected 0, found 1"},
		{"a history of another customer", "UPDATE cust_hist SET customerid = customerid % 100 + 1 WHERE ctid = (SELECT min(ctid) FROM cust_hist WHERE orderid = 7)", "cust_hist rows of another customer than their order's: expected 0, found 1"},
		{"histories that changed places", "UPDATE cust_hist h SET prod_id = o.prod_id FROM (SELECT a.ctid, b.prod_id FROM cust_hist a JOIN cust_hist b ON b.orderid = 15 - a.orderid" +
			" WHERE a.orderid IN (7, 8) AND a.ctid IN (SELECT min(ctid) FROM cust_hist WHERE orderid IN (7, 8) GROUP BY orderid)" +
			" AND b.ctid IN (SELECT min(ctid) FROM cust_hist WHERE orderid IN (7, 8) GROUP BY orderid)) o WHERE h.ctid = o.ctid",
			"products of an order that orderlines and cust_hist do not agree on: expected 0, found 4"},
		{"a line with another quantity", "UPDATE orderlines SET quantity = quantity + 1 WHERE orderid = 7 AND orderlineid = 1", "products whose sales are not the sum of their order lines: expected 0, found 1"},
	} {
		pgtest.Exec(t, s.DB(), c.damage)
		if failed := check(t, s, workload.Audit{Run: run, Whole: true}); !strings.Contains(strings.Join(failed, "\n"), c.want) {
			t.Errorf("%s: want %q, got %q", c.why, c.want, failed)
		}
		pgtest.Exec(t, s.DB(), `TRUNCATE orders, orderlines, cust_hist; INSERT INTO orders SELECT * FROM kept_orders; INSERT INTO orderlines SELECT * FROM kept;
			INSERT INTO cust_hist SELECT * FROM kept_hist`)
	}
	assert.Empty(t, check(t, s, workload.Audit{Run: run, Whole: true}), "after all repairs")
}

// TestChangedDataset is a run that changes what it should leave alone: where no count tells, the server's counters do.
func TestChangedDataset(t *testing.T) {
	s, run := loaded(t)
	pgtest.Exec(t, s.DB(), "UPDATE cust_hist SET prod_id = 1 WHERE orderid = 7")
	want := "rows that the run updated in tables to which it only adds: expected 0, found "
	var failed []string
	for range 1000 { // the server's statistics come late
		run.After = marks(t, s)
		if failed = check(t, s, workload.Audit{Run: run}); len(failed) > 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	assert.True(t, len(failed) == 1 && strings.HasPrefix(failed[0], want), "got %q, want %q", failed, want)
}

// TestInDoubt is work whose commit may have been lost with its connection: both answers are right.
func TestInDoubt(t *testing.T) {
	s, account := loaded(t)
	for name, c := range map[string]struct {
		change func(*measure.Counts)
		ok     bool
	}{
		"the purchase in doubt is there": {func(c *measure.Counts) {
			c.Own[counts.Purchases], c.Own[counts.InDoubtPurchases], c.Own[counts.TotalCents], c.Own[counts.InDoubtTotalCents] = 1, 1, 0, 6498
		}, true},
		"the purchase in doubt is not there": {func(c *measure.Counts) { c.Own[counts.InDoubtPurchases], c.Own[counts.InDoubtTotalCents] = 1, 999 }, true},
		"one is there that was never asked":  {func(c *measure.Counts) { c.Own[counts.Purchases], c.Own[counts.TotalCents] = 1, 0 }, false},
		"the customer in doubt is there":     {func(c *measure.Counts) { c.Own[counts.NewCustomers], c.Own[counts.InDoubtCustomers] = 1, 1 }, true},
	} {
		run := *account
		c.change(&run.Counts)
		if failed := check(t, s, workload.Audit{Run: &run}); (len(failed) == 0) != c.ok {
			t.Errorf("%s: failed %q", name, failed)
		}
	}
}

func TestWhatCannotBeAudited(t *testing.T) {
	s, _ := loaded(t)
	for _, c := range []struct {
		why, change, want string
		size              *datagen.Size
	}{
		{"another size", "SELECT 1", "it holds a dataset of size customers=100,orders-per-month=10,products=300, not S", &datagen.S},
		{"a load cut off", "UPDATE ds2_info SET value = 'loading' WHERE name = 'state'", "its load was not finished", nil},
		{"DS2's own scripts loaded it, and its size is given", "DROP TABLE ds2_info", "", &size},
		{"DS2's own scripts loaded it", "SELECT 1", "ds2_info", nil},
	} {
		pgtest.Exec(t, s.DB(), c.change)
		_, err := audit.Check(t.Context(), s, engines, c.size, workload.Audit{Whole: true})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.why, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want %q", c.why, err, c.want)
		}
	}
}

// TestHistoryInRoomOfOthers: rows of a run that lie before those that the load made last, where somebody made room, are
// found too; and one that is missing there is missed.
func TestHistoryInRoomOfOthers(t *testing.T) {
	s, run := loadedSize(t, datagen.S)
	pgtest.Exec(t, s.DB(), `CREATE TABLE kept AS SELECT * FROM cust_hist; TRUNCATE cust_hist;
		INSERT INTO cust_hist SELECT * FROM kept WHERE orderid > 12000; INSERT INTO cust_hist SELECT * FROM kept WHERE orderid <= 12000; DROP TABLE kept`)
	var page int
	require.NoError(t, s.DB().QueryRow("SELECT max((ctid::text::point)[0]) FROM cust_hist WHERE orderid > 12000").Scan(&page))
	require.LessOrEqual(t, page, 10, "the rows lie on page")
	assert.Empty(t, check(t, s, workload.Audit{Run: run}), "failed")
	pgtest.Exec(t, s.DB(), "DELETE FROM cust_hist WHERE orderid > 12000 AND prod_id = 7")
	if failed := check(t, s, workload.Audit{Run: run}); len(failed) != 1 || !strings.Contains(failed[0], "do not agree on: expected 0, found 1") {
		t.Errorf("with a lost row: %q", failed)
	}
}

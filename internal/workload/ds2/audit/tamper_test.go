package audit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/load"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/runs"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/storetest"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2"
)

// tampering is what someone did to a loaded database, and what verify says of it.
type tampering struct{ why, sql, says string }

// ofSchema is noticed by preflight and in a run, too.
var ofSchema = []tampering{
	{
		"a trigger of the user's own", `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
			'BEGIN PERFORM pg_sleep(.01); RETURN NEW; END';
		CREATE TRIGGER slow BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION slow()`,
		"trigger slow of orders was not there when the database was loaded (CREATE TRIGGER slow",
	},
	{
		"the restock trigger disabled", "ALTER TABLE inventory DISABLE TRIGGER ds2_restock",
		"EXECUTE FUNCTION ds2_restock(), disabled",
	},
	{
		"the restock trigger on a replica",
		"ALTER TABLE inventory ENABLE REPLICA TRIGGER ds2_restock",
		"on a replica only",
	},
	{
		"the restock trigger dropped",
		"DROP TRIGGER ds2_restock ON inventory",
		"ds2_restock of inventory was there when the database was loaded, and is gone",
	},
	{
		"triggers left disabled by a dump",
		"ALTER TABLE orderlines DISABLE TRIGGER ALL",
		"constraint fk_orderid of orderlines is \"FOREIGN KEY (orderid) REFERENCES orders(orderid) " +
			"ON DELETE CASCADE, its triggers are disabled\"",
	},
	{
		"no foreign key is looked at", "ALTER DATABASE %DB% SET session_replication_role = replica",
		`setting session_replication_role is "replica"`,
	},
	{
		"an invalid index",
		"UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ix_order_custid'::regclass",
		"ON public.orders USING btree (customerid), invalid",
	},
	{
		"an index dropped",
		"DROP INDEX ix_prod_category",
		"index ix_prod_category was there when the database was loaded, and is gone",
	},
	{
		"an index more", "CREATE INDEX more ON orders (orderdate)",
		"index more was not there",
	},
	{
		"an index with another order",
		"DROP INDEX ix_order_custid; CREATE INDEX ix_order_custid ON orders (customerid DESC)",
		"(customerid DESC)",
	},
	{
		"a constraint dropped",
		"ALTER TABLE orders DROP CONSTRAINT fk_customerid",
		"constraint fk_customerid of orders was there when the database was loaded, and is gone",
	},
	{
		"a constraint that is not valid", "ALTER TABLE orders DROP CONSTRAINT fk_customerid;" +
			"ALTER TABLE orders ADD CONSTRAINT fk_customerid FOREIGN KEY (customerid) REFERENCES customers " +
			"ON DELETE SET NULL NOT VALID", "NOT VALID",
	},
	{
		"a check more",
		"ALTER TABLE orders ADD CHECK (tax >= 0)",
		"orders_tax_check of orders was not there",
	},
	{"a table without log", "ALTER TABLE cust_hist SET UNLOGGED", `table cust_hist is "unlogged"`},
	{"another fill", "ALTER TABLE orders SET (fillfactor = 20)", "fillfactor=20"},
	{
		"no autovacuum",
		"ALTER TABLE inventory SET (autovacuum_enabled = off)",
		"autovacuum_enabled=off",
	},
	{"an index's fill", "ALTER INDEX orders_pkey SET (fillfactor = 20)", "fillfactor='20'"},
	{
		"a type changed",
		"ALTER TABLE orders ALTER tax TYPE double precision",
		"column tax of orders is",
	},
	{
		"a column more",
		"ALTER TABLE orders ADD note text DEFAULT 'x'",
		"column note of orders was not there",
	},
	{
		"statistics of one value",
		"ALTER TABLE orders ALTER customerid SET STATISTICS 1",
		"statistics 1",
	},
	{
		"a rule",
		"CREATE RULE none AS ON DELETE TO reorder DO INSTEAD NOTHING",
		"rule none of reorder was not there",
	},
	{
		"another text of a procedure",
		`CREATE OR REPLACE FUNCTION ds2_browse_by_category(batch_size_in integer,
			category_in smallint) RETURNS SETOF products LANGUAGE sql STABLE ROWS 5 AS
			'SELECT * FROM products WHERE category = category_in LIMIT batch_size_in'`,
		"function ds2_browse_by_category(integer,smallint) is",
	},
	{
		"a procedure's own settings", "ALTER FUNCTION ds2_login SET enable_indexscan = off",
		"with enable_indexscan=off",
	},
	{
		"a policy",
		"ALTER TABLE reorder ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON reorder",
		"with row security",
	},
	{"a sequence in steps", "ALTER SEQUENCE orders_orderid_seq INCREMENT 2", "increment 2"},
	{
		"a table of many times its room",
		"DO $$ BEGIN WHILE pg_relation_size('customers') < 12e6 LOOP" +
			" UPDATE customers SET age = age; END LOOP; END $$",
		"bloat of table customers was not there",
	},
}

// ofRows is noticed by verify alone.
var ofRows = []tampering{
	{
		"the date of an order",
		"UPDATE orders SET orderdate = orderdate + 1 WHERE orderid = 7",
		otherOrder7,
	},
	{
		"the amounts of an order",
		"UPDATE orders SET netamount = netamount + .001 WHERE orderid = 7",
		otherOrder7,
	},
	{
		"an order of no customer", "UPDATE orders SET customerid = NULL WHERE orderid IN (7, 1200)",
		"rows of orders whose customerid is not in customers: expected 0, found 2: 7, 1200\n",
	},
	{
		"an order of another customer",
		"UPDATE orders SET customerid = customerid % 2000 + 1 WHERE orderid = 7;" +
			"UPDATE cust_hist SET customerid = customerid % 2000 + 1 WHERE orderid = 7",
		otherOrder7,
	},
	{
		"customers deleted", "DELETE FROM customers WHERE customerid <= 20",
		"customers of the dataset: expected 2000, found 1980\n",
	},
	{
		"orders deleted",
		"DELETE FROM cust_hist WHERE orderid = 7; DELETE FROM orders WHERE orderid = 7",
		"orders of the dataset: expected 1200, found 1199\n",
	},
	{
		"an order more", "INSERT INTO orders VALUES (-5, '2004-01-01', 1, 1, 0, 1)",
		"orders without lines: expected 0, found 1\n",
	},
	{
		"the date of a line",
		"UPDATE orderlines SET orderdate = orderdate + 1 WHERE orderid = 7 AND orderlineid = 1",
		otherLines7,
	},
	{
		"quantities that changed places", `UPDATE orderlines l SET quantity = o.quantity FROM (
			SELECT a.orderid, a.orderlineid, b.quantity FROM orderlines a JOIN orderlines b USING (prod_id)
			WHERE a.quantity <> b.quantity ORDER BY a.prod_id LIMIT 2) o
			WHERE l.orderid = o.orderid AND l.orderlineid = o.orderlineid`,
		"orders of the dataset with other lines: expected 0, found ",
	},
	{
		"lines moved to another order",
		`UPDATE orderlines SET orderid = 8, orderlineid = orderlineid + 50 WHERE orderid = 7;
			UPDATE cust_hist SET orderid = 8, customerid = (SELECT customerid FROM orders WHERE orderid = 8) WHERE orderid = 7`,
		"orders of the dataset with other lines: expected 0, found 2: 7-8\n",
	},
	{
		"purchases forgotten", "DELETE FROM cust_hist WHERE orderid = 7",
		"products of an order that orderlines and cust_hist do not agree on: expected 0, found ",
	},
	{
		"a stock of one more",
		"UPDATE inventory SET quan_in_stock = quan_in_stock + 1 WHERE prod_id = 7",
		otherStock7,
	},
	{"a reorder more", "INSERT INTO reorder VALUES (7, '2026-11-21', 1)", otherStock7},
	{
		"sales of one more", "UPDATE inventory SET sales = sales + 1 WHERE prod_id = 7",
		"products whose sales are not the sum of their order lines: expected 0, found 1\n",
	},
	{"a price", "UPDATE products SET price = price + .01 WHERE prod_id = 7", otherProduct7},
	{"a title", "UPDATE products SET title = title || ' ' WHERE prod_id = 7", otherProduct7},
	{
		"a special offer",
		"UPDATE products SET special = 1 - special WHERE prod_id = 7",
		otherProduct7,
	},
	{
		"names of customers",
		"UPDATE customers SET firstname = lastname WHERE customerid BETWEEN 101 AND 112",
		"customers of the dataset with other values: expected 0, found 12: " +
			"101-112\n",
	},
	{
		"a customer's state", "UPDATE customers SET state = '' WHERE customerid = 2000",
		"customers of the dataset with other values: expected 0, found 1: 2000\n",
	},
	{
		"a category's name", "UPDATE categories SET categoryname = 'Film' WHERE category = 3",
		"categories with another name than the dataset's: expected 0, found 1\n",
	},
}

const (
	otherOrder7   = "orders of the dataset with other values: expected 0, found 1: 7\n"
	otherLines7   = "orders of the dataset with other lines: expected 0, found 1: 7\n"
	otherStock7   = "products whose stock is not the dataset's less sales, with reorders: expected 0, found 1: 7\n"
	otherProduct7 = "products of the dataset with other values: expected 0, found 1: 7\n"
)

// TestTampering: what someone changed in a database since its load is said by verify, each in a
// copy of its own; and what is of the schema by the function that preflight and runs ask. What is
// as it was passes.
func TestTampering(t *testing.T) {
	t.Parallel()
	verify := func(t *testing.T, s store.Database) (failed string) {
		t.Helper()
		w := ds2.Workload{Engines: engines}
		audit, err := runs.Verification{
			Targets:  []store.Database{s},
			How:      workload.Audit{Whole: true},
			Workload: func(context.Context, store.Database) (workload.Workload, error) { return w, nil },
		}.Audit(t.Context())
		require.NoError(t, err)
		for _, c := range audit.Checks {
			if !c.Passed {
				failed += c.Name + ": expected " + c.Expected + ", found " + c.Found + "\n"
			}
		}
		assert.Equal(t, audit.Passed, failed == "")
		return failed
	}
	said := func(t *testing.T, s store.Database) string {
		t.Helper()
		changes, noted, err := load.ReadSchemaChanges(t.Context(), s)
		require.NoError(t, err)
		require.True(t, noted)
		var texts []string
		for _, c := range changes {
			texts = append(texts, c.Words())
		}
		return strings.Join(texts, "; ")
	}

	t.Run("nothing", func(t *testing.T) {
		s := storetest.Loaded(t, postgres.Open, storetest.Size)
		assert.Empty(t, verify(t, s))
		assert.Empty(t, said(t, s))
	})
	t.Run("names quoted", func(t *testing.T) {
		s := storetest.Loaded(t, postgres.Open, storetest.Size)
		pgtest.Exec(t, s.DB(), "ALTER DATABASE "+s.Name()+" SET quote_all_identifiers = on")
		assert.Empty(t, said(t, reopened(t, s)))
	})
	for _, c := range ofRows {
		t.Run(c.why, func(t *testing.T) {
			s := storetest.Loaded(t, postgres.Open, storetest.Size)
			if !hashesRows(t, s) {
				t.Skip("versions before 14 do not hash rows")
			}
			pgtest.Exec(t, s.DB(), c.sql)
			assert.Contains(t, verify(t, s), c.says)
		})
	}
	for _, c := range ofSchema {
		t.Run(c.why, func(t *testing.T) {
			s := storetest.Loaded(t, postgres.Open, storetest.Size)
			pgtest.Exec(t, s.DB(), strings.ReplaceAll(c.sql, "%DB%", s.Name()))
			pgtest.Counted(t, s.DB())
			s = reopened(t, s)
			assert.Contains(t, said(t, s), c.says)
			assert.Contains(t, verify(t, s), c.says)
		})
	}
}

// hashesRows tells whether the server can compare rows with the dataset's.
func hashesRows(t *testing.T, s store.Database) bool {
	t.Helper()
	const version = "SELECT current_setting('server_version_num')::integer"
	return pgtest.Value[int](t, s.DB(), version) >= 140000
}

// reopened is a database with sessions that begin now.
func reopened(t *testing.T, s store.Database) store.Database {
	t.Helper()
	return pgtest.Open(t, postgres.Open, pgtest.Server(t).URL(s.Name()))
}

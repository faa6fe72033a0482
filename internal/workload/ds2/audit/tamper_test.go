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
		`trigger slow of orders is "CREATE TRIGGER slow`,
	},
	{
		"the restock trigger disabled", "ALTER TABLE inventory DISABLE TRIGGER ds2_restock",
		"EXECUTE FUNCTION ds2_restock(), disabled",
	},
	{
		"the restock trigger on a replica", "ALTER TABLE inventory ENABLE REPLICA TRIGGER ds2_restock",
		"on a replica only",
	},
	{"the restock trigger dropped", "DROP TRIGGER ds2_restock ON inventory", "ds2_restock of inventory is not there"},
	{
		"triggers left disabled by a dump", "ALTER TABLE orderlines DISABLE TRIGGER ALL",
		"constraint fk_orderid of orderlines is \"FOREIGN KEY (orderid) REFERENCES orders(orderid) " +
			"ON DELETE CASCADE, its triggers are disabled\"",
	},
	{
		"no foreign key is looked at", "ALTER DATABASE %DB% SET session_replication_role = replica",
		`setting session_replication_role is "replica"`,
	},
	{
		"an invalid index", "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ix_order_custid'::regclass",
		"ON public.orders USING btree (customerid), invalid",
	},
	{"an index dropped", "DROP INDEX ix_prod_category", "index ix_prod_category is not there"},
	{
		"an index more", "CREATE INDEX more ON orders (orderdate)",
		"index more is",
	},
	{
		"an index with another order", "DROP INDEX ix_order_custid; CREATE INDEX ix_order_custid ON orders (customerid DESC)",
		"(customerid DESC)",
	},
	{"a constraint dropped", "ALTER TABLE orders DROP CONSTRAINT fk_customerid", "constraint fk_customerid of orders is not there"},
	{
		"a constraint that is not valid", "ALTER TABLE orders DROP CONSTRAINT fk_customerid;" +
			"ALTER TABLE orders ADD CONSTRAINT fk_customerid FOREIGN KEY (customerid) REFERENCES customers " +
			"ON DELETE SET NULL NOT VALID", "NOT VALID",
	},
	{"a check more", "ALTER TABLE orders ADD CHECK (tax >= 0)", "orders_tax_check of orders is"},
	{"a table without log", "ALTER TABLE cust_hist SET UNLOGGED", `table cust_hist is "unlogged"`},
	{"another fill", "ALTER TABLE orders SET (fillfactor = 20)", "fillfactor=20"},
	{"no autovacuum", "ALTER TABLE inventory SET (autovacuum_enabled = off)", "autovacuum_enabled=off"},
	{"an index's fill", "ALTER INDEX orders_pkey SET (fillfactor = 20)", "fillfactor='20'"},
	{"a type changed", "ALTER TABLE orders ALTER tax TYPE double precision", "column tax of orders is"},
	{"a column more", "ALTER TABLE orders ADD note text DEFAULT 'x'", "column note of orders is"},
	{"statistics of one value", "ALTER TABLE orders ALTER customerid SET STATISTICS 1", "statistics 1"},
	{"a rule", "CREATE RULE none AS ON DELETE TO reorder DO INSTEAD NOTHING", "rule none of reorder is"},
	{
		"another text of a procedure", `CREATE OR REPLACE FUNCTION ds2_browse_by_category(batch_size_in integer,
			category_in smallint) RETURNS SETOF products LANGUAGE sql STABLE ROWS 5 AS
			'SELECT * FROM products WHERE category = category_in LIMIT batch_size_in'`,
		"function ds2_browse_by_category(integer,smallint) is",
	},
	{
		"a procedure's own settings", "ALTER FUNCTION ds2_login SET enable_indexscan = off",
		"with enable_indexscan=off",
	},
	{"a policy", "ALTER TABLE reorder ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON reorder", "with row security"},
	{"a sequence in steps", "ALTER SEQUENCE orders_orderid_seq INCREMENT 2", "increment 2"},
	{"a table bloated fourfold", "UPDATE customers SET age = age; UPDATE customers SET age = age;" +
		"UPDATE customers SET age = age", "room of table customers is"},
}

// TestTampering: what someone changed in a database since its load is said by verify, each in a
// copy of its own; and what is of the schema by the function that preflight and runs ask. What is
// as it was passes.
func TestTampering(t *testing.T) {
	t.Parallel()
	verify := func(t *testing.T, s store.Database) (failed string) {
		t.Helper()
		w := ds2.Workload{Engines: engines}
		audit, err := runs.Verification{
			Targets: []store.Database{s}, How: workload.Audit{Whole: true},
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
			texts = append(texts, c.SinceLoad())
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

// reopened is a database with sessions that begin now.
func reopened(t *testing.T, s store.Database) store.Database {
	t.Helper()
	return pgtest.Open(t, postgres.Open, pgtest.Server(t).URL(s.Name()))
}

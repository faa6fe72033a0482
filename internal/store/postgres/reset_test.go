package postgres_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/calls"
	"ds2/schema"
)

var onePurchase = &calls.Purchase{CustomerID: 1, Items: []calls.Item{{Product: 1, Quantity: 1}}}

// TestResetVacuumsWhatWasWritten counts the vacuums of each table: those that a run left alone are
// not read again, and what an earlier reset left undone is done.
func TestResetVacuumsWhatWasWritten(t *testing.T) {
	t.Parallel()
	s := loaded(t, small)
	all := []string{
		"cust_hist",
		"customers",
		"inventory",
		"orderlines",
		"orders",
	} // INVENTORY is always made anew
	for _, c := range []struct {
		why  string
		work func(calls.Session) error
		want []string
	}{
		{"nothing was done", func(calls.Session) error { return nil }, []string{"inventory"}},
		{"a new customer", func(session calls.Session) error {
			_, err := session.NewCustomer(t.Context(), newCustomer)
			return err
		}, []string{"customers", "inventory"}},
		{"a purchase", func(session calls.Session) error {
			_, err := session.Purchase(t.Context(), onePurchase)
			return err
		}, []string{"cust_hist", "inventory", "orderlines", "orders"}},
		{"an earlier reset that ended before it had vacuumed", func(calls.Session) error {
			_, err := s.DB().Exec("INSERT INTO ds2_info VALUES ('reset_unvacuumed', 'customers orders')")
			return err
		}, []string{"customers", "inventory", "orders"}},
		{"nothing since", func(calls.Session) error { return nil }, []string{"inventory"}},
	} {
		session := connect(t, s)
		require.NoError(t, c.work(session), c.why)
		session.Close(t.Context())
		pgtest.Counted(t, s.DB())
		before := vacuums(t, s)
		var told []string
		reset(t, s, func(doing string, _, _ int64) { told = append(told, doing) })
		atOnce, err := s.Changed(t.Context(), nil, all)
		require.NoError(t, err)
		pgtest.Counted(t, s.DB())
		later, err := s.Changed(t.Context(), nil, all)
		require.NoError(t, err)
		assert.Equal(
			t,
			later,
			atOnce,
			"%s: rows removed, as the server counts them before the next run",
			c.why,
		)
		after := vacuums(t, s)
		var got []string
		for _, table := range all {
			if after[table] > before[table] {
				got = append(got, table)
			}
			vacuumed := slices.Contains(told, "vacuum "+table)
			assert.Equal(
				t,
				after[table] > before[table],
				vacuumed,
				"%s: told of vacuuming %s",
				c.why,
				table,
			)
		}
		assert.Equal(t, c.want, got, c.why)
	}
}

// vacuums are how often each table was vacuumed by a statement.
func vacuums(t *testing.T, s *postgres.Store) map[string]int {
	t.Helper()
	counts, err := store.Pairs[int](
		t.Context(),
		s.DB(),
		"SELECT relname, vacuum_count FROM pg_stat_user_tables",
	)
	require.NoError(t, err)
	return counts
}

// TestResetKeepsStatistics: a table of which much has changed is not analyzed, unless it has other
// statistics than noted, or the user may not have the server forget how much. One session is
// enough, for one table after the other.
func TestResetKeepsStatistics(t *testing.T) {
	s := loaded(t, small)
	// The server itself would analyze what the test changes, sooner or later.
	pgtest.Exec(t, s.DB(), "ALTER TABLE orders SET (autovacuum_enabled = off)")
	pgtest.Exec(t, s.DB(), "CREATE ROLE shopkeeper LOGIN PASSWORD 'x' CONNECTION LIMIT 1",
		`DO $$ DECLARE name text; BEGIN
			FOR name IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
				EXECUTE format('ALTER TABLE %I OWNER TO shopkeeper', name);
			END LOOP; END $$`)
	superuser := pgtest.Server(t).URL(s.Name())
	const change = "UPDATE orders SET tax = tax + 1"
	for _, c := range []struct {
		why, as string
		work    []string
		want    bool
	}{
		{"not noted", superuser, []string{change}, true},
		{"noted", superuser, []string{change}, false},
		{
			"their owner, with one session", pgtest.As(t, superuser, "shopkeeper", "x"),
			[]string{change},
			true,
		},
		{"statistics of a run", superuser, []string{change, "ANALYZE orders", change}, true},
		{"analyzed before a run", superuser, []string{"ANALYZE orders"}, false},
		{"noted by the reset before", superuser, []string{change}, false},
	} {
		pgtest.Exec(t, s.DB(), c.work...)
		pgtest.Counted(t, s.DB())
		var told []string
		by := open(t, c.as)
		reset(t, by, func(doing string, _, _ int64) { told = append(told, doing) })
		require.NoError(t, by.Close())
		assert.Equal(t, c.want, slices.Contains(told, "analyze orders"), c.why)
		pgtest.Counted(t, s.DB())
		assert.Zero(t, pgtest.Value[int](t, s.DB(),
			"SELECT n_mod_since_analyze FROM pg_stat_user_tables WHERE relname = 'orders'"), c.why)
	}
}

// TestResetKeepsInventorySmall: runs that changed most rows of INVENTORY leave neither table nor
// index larger after a reset, or every run after the first would read more from the drives per
// order.
func TestResetKeepsInventorySmall(t *testing.T) {
	t.Parallel()
	s := loaded(t, small)
	bytes := func(of string) int64 {
		return pgtest.Value[int64](t, s.DB(), "SELECT pg_relation_size('"+of+"')")
	}
	table := bytes("inventory")
	index := bytes("inventory_pkey")
	for range 3 {
		pgtest.Exec(t, s.DB(), "UPDATE inventory SET quan_in_stock = quan_in_stock + 1")
	}
	reset(t, s, silent)
	require.Equal(t, table, bytes("inventory"))
	require.LessOrEqual(t, bytes("inventory_pkey"), index+index/20)
}

// TestResetCutOff ends a reset after its last statement and before its commit: rows and sequences
// both stay, or no new order could be made any more.
func TestResetCutOff(t *testing.T) {
	t.Parallel()
	s := loaded(t, small)
	work(t, s)
	worked := state(t, s)
	info, err := store.ReadInfo(t.Context(), s.DB())
	require.NoError(t, err)
	plan, err := ds2.Workload{}.PlanReset(s.Engine(), info)
	require.NoError(t, err)
	inTransaction := slices.DeleteFunc(plan.Statements, func(s schema.Statement) bool {
		return s.NoTransaction
	})
	cut := append(inTransaction, schema.Statement{Name: "cut", SQL: "SELECT 1 / 0"})
	err = s.Reset(t.Context(), cut, plan.Rows, func(string) {})
	require.ErrorContains(t, err, "(22012)", "division by zero")
	assert.Equal(t, worked, state(t, s), "after a reset that was cut off")
	_, err = connect(t, s).Purchase(t.Context(), onePurchase)
	assert.NoError(t, err, "a purchase after it")
}

// TestTimeoutsOfUsers: a database's limits on its users' statements are not for the pool, through
// which loads, resets and audits go.
func TestTimeoutsOfUsers(t *testing.T) {
	target := pgtest.Database(t)
	admin := open(t, target)
	timeouts := []string{"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"}
	for _, name := range timeouts {
		pgtest.Exec(t, admin.DB(), "ALTER DATABASE "+admin.Name()+" SET "+name+" = '1min'")
	}
	s := open(t, target)
	for _, name := range timeouts {
		assert.Equal(t, "0", pgtest.Value[string](t, s.DB(), "SHOW "+name), name)
	}
}

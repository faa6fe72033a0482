package main

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

// Work per order on PostgreSQL, of 1,000 orders from one seed on a freshly loaded size S. The first
// column of figures in docs/explanation/fidelity.md is of the same work, beside DVD Store's own
// driver: a change that moves one of these by more than 2 % makes another workload of it, and is
// written down there with its reason.
var workOfAnOrder = map[string]float64{
	"bytes of log records":   2835,
	"rows inserted":          10.85,
	"rows updated":           4.85,
	"page requests":          216.5,
	"rows fetched":           96.4,
	"bytes of a customer":    199.48,
	"bytes of an order":      68.18,
	"bytes of an order line": 52.18,
	"bytes of a history row": 44.38,
}

func TestWorkOfAnOrder(t *testing.T) {
	nightly.Long(t, "makes 1,000 orders by one user")
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{Settings: map[string]string{
		"full_page_writes": "off", // their number depends on checkpoints, and so on time
		"autovacuum":       "off",
		"fsync":            "off",
	}})
	must(t, "load", "--size", "S", "-q", "--target", server.URL("ds2"))
	s := pgtest.Open(t, postgres.Open, server.URL("ds2"))
	const orders = 1000
	found := map[string]float64{}
	for row, table := range map[string]string{
		"a customer": "customers", "an order": "orders", "an order line": "orderlines", "a history row": "cust_hist",
	} {
		size := fmt.Sprintf(
			"SELECT pg_relation_size('%s')::float / (SELECT count(*) FROM %[1]s)",
			table,
		)
		found["bytes of "+row] = pgtest.Value[float64](t, s.DB(), size)
	}
	before := workDone(t, s.DB())
	playOrders(t, s, datagen.S, orders)
	for name, sum := range workDone(t, s.DB()) {
		found[name] = (sum - before[name]) / orders
	}
	for name, want := range workOfAnOrder {
		assert.InEpsilon(t, want, found[name], 0.02, name)
	}
}

// workDone asks what the server has done so far, when it has counted what all other sessions did.
func workDone(t *testing.T, db *sql.DB) map[string]float64 {
	t.Helper()
	pgtest.Counted(t, db)
	const query = `
		SELECT 'bytes of log records', pg_current_wal_insert_lsn() - '0/0'
		UNION ALL SELECT 'rows inserted', sum(n_tup_ins) FROM pg_stat_user_tables
		UNION ALL SELECT 'rows updated', sum(n_tup_upd) FROM pg_stat_user_tables
		UNION ALL SELECT 'rows fetched', sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))
			FROM pg_stat_user_tables
		UNION ALL SELECT 'page requests', sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read, 0)
			+ coalesce(idx_blks_hit, 0) + coalesce(toast_blks_hit, 0)) FROM pg_statio_user_tables`
	done := map[string]float64{}
	err := store.EachRow(t.Context(), db, 100, query, func(rows *sql.Rows) error {
		var name string
		var value float64
		err := rows.Scan(&name, &value)
		done[name] = value
		return err
	})
	require.NoError(t, err)
	return done
}

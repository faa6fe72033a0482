package schema

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What pg_database_size said after ds2 load on PostgreSQL 15, and the index on (username, password) that was added
// since: 41.4 and 40.6 bytes a customer.
func TestExpectedBytesOfPostgres(t *testing.T) {
	for _, c := range []struct {
		size     string
		params   Params
		measured int64
	}{
		{"S", Params{Customers: 20_000, OrdersPerMonth: 1_000, Products: 10_000}, 24_804_711 + 827_392},
		{"M", Params{Customers: 2_000_000, OrdersPerMonth: 100_000, Products: 100_000}, 1_447_312_743 + 81_133_568},
		{"20 mailboxes of 2 MB", Params{Workload: "mailbox", Bytes: 40 << 20}, 49_692_007},
	} {
		got, err := ExpectedBytes("postgres", c.params)
		require.NoError(t, err)
		if off := float64(got)/float64(c.measured) - 1; off < -0.1 || off > 0.1 {
			t.Errorf("size %s: expected %d bytes, measured %d: %.1f %% off", c.size, got, c.measured, 100*off)
		}
	}
}

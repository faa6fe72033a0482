package audit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/workload/ds2/audit"
)

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
		{"after a run that nobody marked", "INSERT INTO orders (orderdate, customerid, netamount, tax, totalamount) VALUES ('2026-11-21', 5, 1, 1, 2);" +
			"UPDATE inventory SET sales = sales + 1 WHERE prod_id = 9", false},
		{"as loaded", "DELETE FROM orders WHERE orderid > 12000; UPDATE inventory SET sales = sales - 1 WHERE prod_id IN (7, 9);" +
			"UPDATE inventory SET sales = sales - 2 WHERE prod_id = 8", true},
	} {
		if c.change != "" {
			pgtest.Exec(t, s.DB(), c.change)
		}
		pgtest.Counted(t, s.DB())
		before, has, _ := pagesRead(t, s)
		got, err := audit.ReadMarks(t.Context(), s, false)
		require.NoError(t, err)
		pgtest.Counted(t, s.DB())
		after, _, _ := pagesRead(t, s)
		if read := after["inventory"] - before["inventory"]; (read == 0) != c.noted {
			t.Errorf("%s: read %d of %d pages of inventory", c.state, read, has["inventory"])
		}
		for _, table := range []string{"customers", "orders", "orderlines", "cust_hist", "products"} {
			if read := after[table] - before[table]; read > 5 {
				t.Errorf("%s: read %d of %d pages of %s", c.state, read, has[table], table)
			}
		}
		sales := got[audit.Sales]
		assert.Equal(t, marks(t, s)[audit.Sales], sales, "%s: sales", c.state)
	}
}

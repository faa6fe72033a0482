package books

import (
	"context"
	"database/sql"
	"fmt"

	"ds2/internal/store"
)

// readSales reads how many pieces of each product of a dataset have been sold, by the rows of INVENTORY.
func readSales(ctx context.Context, target store.Database, products int) (map[int32]int64, error) {
	sales := map[int32]int64{}
	query := fmt.Sprintf("SELECT prod_id, sales FROM inventory WHERE prod_id <= %d", products)
	err := store.EachRow(ctx, target.DB(), int64(products), query, func(rows *sql.Rows) error {
		var product int32
		var sold int64
		err := rows.Scan(&product, &sold)
		sales[product] = sold
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the stock of %s: %w", target.Label(), err)
	}
	return sales, nil
}

// stale gives the products whose row is older than what was acknowledged: fewer pieces are sold than were before and
// have been acknowledged since.
func stale(before, sold, now map[int32]int64) []int64 {
	var old []int64
	for product, n := range before {
		if now[product] < n+sold[product] {
			old = append(old, int64(product))
		}
	}
	return old
}

package books

import (
	"context"
	"database/sql"
)

// readSales reads how many pieces of each product have been sold, by the rows of INVENTORY.
func readSales(ctx context.Context, db *sql.DB) (map[int32]int64, error) {
	rows, err := db.QueryContext(ctx, "SELECT prod_id, sales FROM inventory")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	sales := map[int32]int64{}
	for rows.Next() {
		var product int32
		var sold int64
		if err := rows.Scan(&product, &sold); err != nil {
			return nil, err
		}
		sales[product] = sold
	}
	return sales, rows.Err()
}

// stale gives the products whose row is older than what was acknowledged: fewer pieces are sold than were before and have
// been acknowledged since.
func stale(before, sold, now map[int32]int64) []int64 {
	var old []int64
	for product, n := range before {
		if now[product] < n+sold[product] {
			old = append(old, int64(product))
		}
	}
	return old
}

package books

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// compareOrders compares acknowledged purchases with the orders that a database holds above a number.
func compareOrders(ctx context.Context, db *sql.DB, acknowledged []entry, above int64) (comparison, error) {
	c := comparison{acknowledged: acknowledged}
	// Stable, so that of two with one number the later stands behind.
	slices.SortStableFunc(c.acknowledged, func(a, b entry) int { return cmp.Compare(a.Order, b.Order) })
	rows, err := db.QueryContext(ctx, fmt.Sprintf(`
		SELECT o.orderid, o.customerid, CAST(o.totalamount * 100 AS bigint), (SELECT COUNT(*) FROM orderlines l WHERE l.orderid = o.orderid)
		FROM orders o WHERE o.orderid > %d ORDER BY o.orderid`, above))
	if err != nil {
		return c, err
	}
	defer rows.Close()
	for rows.Next() {
		held := entry{Kind: bought}
		if err := rows.Scan(&held.Order, &held.Customer, &held.Total, &held.Lines); err != nil {
			return c, err
		}
		c.next(held)
	}
	c.end()
	return c, rows.Err()
}

// comparison takes the orders that a store holds, in the order of their numbers, against those acknowledged.
type comparison struct {
	acknowledged         []entry // in the order of their numbers; what is left to be met
	lost, unacknowledged []entry
}

// next takes one order that the store holds. What was acknowledged under lower numbers, or under this number with other
// contents, is lost.
func (c *comparison) next(held entry) {
	met := false
	n := 0
	for ; n < len(c.acknowledged) && c.acknowledged[n].Order <= held.Order; n++ {
		told := c.acknowledged[n]
		held.Target = told.Target
		if told == held && !met {
			met = true
		} else {
			c.lost = append(c.lost, told)
		}
	}
	c.acknowledged = c.acknowledged[n:]
	if !met {
		c.unacknowledged = append(c.unacknowledged, held)
	}
}

// end says that the store holds no more: what was not met is lost.
func (c *comparison) end() {
	c.lost = append(c.lost, c.acknowledged...)
	c.acknowledged = nil
}

// compareCustomers gives the acknowledged customers that a database, above a number, does not hold under the same name.
func compareCustomers(ctx context.Context, db *sql.DB, acknowledged []entry, above int64) (lost []entry, err error) {
	rows, err := db.QueryContext(ctx, fmt.Sprintf("SELECT customerid, username FROM customers WHERE customerid > %d", above))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	held := map[int64]uint64{}
	for rows.Next() {
		var id int64
		var name []byte
		if err := rows.Scan(&id, &name); err != nil {
			return nil, err
		}
		held[id] = nameSum(name)
	}
	for _, e := range acknowledged {
		if name, ok := held[e.Customer]; !ok || name != e.Name {
			lost = append(lost, e)
		}
	}
	return lost, rows.Err()
}

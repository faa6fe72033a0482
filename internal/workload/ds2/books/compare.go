package books

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"ds2/internal/store"
)

// mostRows is how many orders or customers of a run a database may hold whose journals have so many entries. Other
// machines, whose journals are not at hand, may have made some besides.
func mostRows(entries int64) int64 { return 1_000_000 + 100*entries }

// compareOrders compares acknowledged purchases, and those in doubt, with the orders that a database holds above a
// number, of which there are most at most.
func compareOrders(ctx context.Context, db *sql.DB, acknowledged, doubtful []entry, above, most int64) (comparison, error) {
	c := comparison{acknowledged: acknowledged, doubt: newDoubt(doubtful)}
	// Stable, so that of two with one number the later stands behind.
	slices.SortStableFunc(c.acknowledged, func(a, b entry) int { return cmp.Compare(a.Order, b.Order) })
	err := store.EachRow(ctx, db, most, fmt.Sprintf(`
		SELECT o.orderid, o.customerid, CAST(o.totalamount * 100 AS bigint), (SELECT COUNT(*) FROM orderlines l WHERE l.orderid = o.orderid)
		FROM orders o WHERE o.orderid > %d ORDER BY o.orderid`, above), func(rows *sql.Rows) error {
		held := entry{Kind: bought}
		if err := rows.Scan(&held.Order, &held.Customer, &held.Total, &held.Lines); err != nil {
			return err
		}
		c.next(held)
		return nil
	})
	c.end()
	return c, err
}

// comparison takes the orders that a store holds, in the order of their numbers, against those acknowledged.
type comparison struct {
	acknowledged []entry // in the order of their numbers; what is left to be met
	doubt        doubt
	lost         []entry

	// Orders that nobody was told of: purchases in doubt that are there as a whole, and others.
	whole, strange int
	strangers      []entry // the first of the others
}

// maxStrangers bounds how many orders are kept that nobody knows: a server can send more than there is memory.
const maxStrangers = 10_000

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
	switch {
	case met:
	case c.doubt.resolve(held):
		c.whole++
	default:
		if c.strange++; c.strange <= maxStrangers {
			c.strangers = append(c.strangers, held)
		}
	}
}

// end says that the store holds no more: what was not met is lost.
func (c *comparison) end() {
	c.lost = append(c.lost, c.acknowledged...)
	c.acknowledged = nil
}

// compareCustomers gives the acknowledged customers that a database, above a number, does not hold under the same name.
// It holds most customers there at most.
func compareCustomers(ctx context.Context, db *sql.DB, acknowledged []entry, above, most int64) (lost []entry, err error) {
	type customer struct {
		id   int64
		name uint64
	}
	missing := make(map[customer]bool, len(acknowledged))
	for _, e := range acknowledged {
		missing[customer{e.Customer, e.Name}] = true
	}
	err = store.EachRow(ctx, db, most, fmt.Sprintf("SELECT customerid, username FROM customers WHERE customerid > %d", above), func(rows *sql.Rows) error {
		var id int64
		var name sql.RawBytes
		if err := rows.Scan(&id, &name); err != nil {
			return err
		}
		delete(missing, customer{id, nameSum(name)})
		return nil
	})
	for _, e := range acknowledged {
		if missing[customer{e.Customer, e.Name}] {
			lost = append(lost, e)
		}
	}
	return lost, err
}

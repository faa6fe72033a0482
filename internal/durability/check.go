package durability

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"ds2/internal/result"
)

// Check compares the journal at path with the orders that a target, number index of the run's, holds above the mark
// before. inDoubt is how many purchases the run does not know the fate of. Whether every order that is there is whole is
// for the audit to say, which looks at all of them.
func Check(ctx context.Context, db *sql.DB, path string, index int, target string, before, inDoubt int64) ([]result.Check, error) {
	acknowledged, err := read(path, index)
	if err != nil {
		return nil, err
	}
	c := comparison{acknowledged: acknowledged}
	// Stable, so that of two with one number the later stands behind.
	slices.SortStableFunc(c.acknowledged, func(a, b purchase) int { return cmp.Compare(a.Order, b.Order) })
	rows, err := db.QueryContext(ctx, fmt.Sprintf(`
		SELECT o.orderid, o.customerid, CAST(o.totalamount * 100 AS bigint), (SELECT COUNT(*) FROM orderlines l WHERE l.orderid = o.orderid)
		FROM orders o WHERE o.orderid > %d ORDER BY o.orderid`, before))
	if err != nil {
		return nil, fmt.Errorf("read the orders of %s: %w", target, err)
	}
	defer rows.Close()
	for rows.Next() {
		var held purchase
		if err := rows.Scan(&held.Order, &held.Customer, &held.Total, &held.Lines); err != nil {
			return nil, fmt.Errorf("read the orders of %s: %w", target, err)
		}
		held.Target = uint16(index)
		c.next(held)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the orders of %s: %w", target, err)
	}
	for _, p := range c.acknowledged {
		c.lost = append(c.lost, p.Order)
	}
	return []result.Check{
		{
			Target: target, Name: "acknowledged purchases that were lost",
			Passed: len(c.lost) == 0, Expected: "0", Found: named(c.lost),
		},
		{
			Target: target, Name: "orders that nobody was told of: purchases in doubt",
			Passed: int64(len(c.untold)) <= inDoubt, Expected: fmt.Sprintf("0 to %d", inDoubt), Found: fmt.Sprint(len(c.untold)),
		},
	}, nil
}

// comparison takes the orders that a store holds, in the order of their numbers, against those acknowledged.
type comparison struct {
	acknowledged []purchase // in the order of their numbers; what is left to be met
	lost, untold []int64
}

// next takes one order that the store holds. What was acknowledged under lower numbers, or under this number with other
// contents, is lost.
func (c *comparison) next(held purchase) {
	met := false
	n := 0
	for ; n < len(c.acknowledged) && c.acknowledged[n].Order <= held.Order; n++ {
		if c.acknowledged[n] == held && !met {
			met = true
		} else {
			c.lost = append(c.lost, c.acknowledged[n].Order)
		}
	}
	c.acknowledged = c.acknowledged[n:]
	if !met {
		c.untold = append(c.untold, held.Order)
	}
}

// named gives the number of orders, and their numbers: "4: orders 12001, 12003-12005".
func named(orders []int64) string {
	if len(orders) == 0 {
		return "0"
	}
	slices.Sort(orders)
	var ranges []string
	for i := 0; i < len(orders); {
		last := i
		for last+1 < len(orders) && orders[last+1] <= orders[last]+1 {
			last++
		}
		text := fmt.Sprint(orders[i])
		if orders[last] > orders[i] {
			text += fmt.Sprintf("-%d", orders[last])
		}
		ranges = append(ranges, text)
		i = last + 1
	}
	return fmt.Sprintf("%d: orders %s", len(orders), strings.Join(ranges, ", "))
}

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

// Check compares journals with what a target, number index of the run's, holds above the marks before: all work of one run,
// of which each driver machine has a journal. Whether every order that is there is consistent is for the audit to say.
func Check(ctx context.Context, db *sql.DB, paths []string, index int, target string, before result.Marks) ([]result.Check, error) {
	var all []entry
	for _, path := range paths {
		more, err := read(path, index, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	orders, err := compareOrders(ctx, db, of(bought, all), before.Order)
	if err != nil {
		return nil, fmt.Errorf("read the orders of %s: %w", target, err)
	}
	lostCustomers, err := compareCustomers(ctx, db, of(registered, all), before.Customer)
	if err != nil {
		return nil, fmt.Errorf("read the customers of %s: %w", target, err)
	}
	doubtful := of(doubtful, all)
	whole, strangers := settle(doubtful, orders.untold)
	return []result.Check{
		{
			Target: target, Name: "acknowledged purchases that were lost",
			Passed: len(orders.lost) == 0, Expected: "0", Found: named("orders", numbers(orders.lost)),
		},
		{
			Target: target, Name: "acknowledged new customers that were lost",
			Passed: len(lostCustomers) == 0, Expected: "0", Found: named("customers", numbers(lostCustomers)),
		},
		{
			Target: target, Name: "orders that nobody was told of: purchases in doubt",
			Passed: len(orders.untold) <= len(doubtful), Expected: fmt.Sprintf("0 to %d", len(doubtful)), Found: fmt.Sprint(len(orders.untold)),
		},
		{
			Target: target, Name: fmt.Sprintf("orders that nobody was told of and that are no purchase in doubt as a whole (%d of %d are)", whole, len(doubtful)),
			Passed: len(strangers) == 0, Expected: "0", Found: named("orders", numbers(strangers)),
		},
	}, nil
}

// settle tells which purchases in doubt were made: those that are there as a whole, same customer, total and number of
// lines. What is there and none of them is strange.
func settle(doubtful, untold []entry) (whole int, strange []entry) {
	type contents struct {
		customer int64
		total    int64
		lines    uint16
	}
	open := map[contents]int{}
	for _, e := range doubtful {
		open[contents{e.Customer, int64(e.Total), e.Lines}]++
	}
	for _, e := range untold {
		c := contents{e.Customer, int64(e.Total), e.Lines}
		if open[c] > 0 {
			open[c]--
			whole++
		} else {
			strange = append(strange, e)
		}
	}
	return whole, strange
}

// numbers are those of orders or customers.
func numbers(entries []entry) []int64 {
	var all []int64
	for _, e := range entries {
		if e.Kind == registered {
			all = append(all, e.Customer)
		} else {
			all = append(all, e.Order)
		}
	}
	return all
}

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
	acknowledged []entry // in the order of their numbers; what is left to be met
	lost, untold []entry
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
		c.untold = append(c.untold, held)
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

// maxNamed bounds how many ranges of numbers are named: a database that lost everything is not to fill the record.
const maxNamed = 1000

// named gives how many numbers there are, and which: "4: orders 12001, 12003-12005".
func named(what string, all []int64) string {
	if len(all) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d: %s %s", len(all), what, ranges(all))
}

// ranges names numbers: "12001, 12003-12005".
func ranges(all []int64) string {
	slices.Sort(all)
	var texts []string
	for i := 0; i < len(all); {
		if len(texts) == maxNamed {
			texts = append(texts, "…")
			break
		}
		last := i
		for last+1 < len(all) && all[last+1] <= all[last]+1 {
			last++
		}
		text := fmt.Sprint(all[i])
		if all[last] > all[i] {
			text += fmt.Sprintf("-%d", all[last])
		}
		texts = append(texts, text)
		i = last + 1
	}
	return strings.Join(texts, ", ")
}

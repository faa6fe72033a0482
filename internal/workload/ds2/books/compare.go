package books

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/audit"
)

// compare compares entries of a journal with the orders and the customers of a run that a target holds.
func compare(
	ctx context.Context, target store.Database, all []entry, before result.Marks, entries int64,
) (*comparison, error) {
	most := 1_000_000 + 100*entries
	c := newComparison(of(bought, all), of(doubtful, all))
	query := fmt.Sprintf(`
		SELECT o.orderid, o.customerid, CAST(o.totalamount * 100 AS bigint),
			(SELECT COUNT(*) FROM orderlines l WHERE l.orderid = o.orderid)
		FROM orders o WHERE o.orderid > %d ORDER BY o.orderid`, before[audit.LastOrder])
	err := store.EachRow(ctx, target.DB(), most, query, func(rows *sql.Rows) error {
		held := entry{Kind: bought}
		err := rows.Scan(&held.Order, &held.Customer, &held.Total, &held.Lines)
		if err == nil {
			c.next(held)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the orders of %s: %w", target.Label(), err)
	}
	c.end()

	told, missing := of(registered, all), map[entry]bool{}
	for _, e := range told {
		missing[customer(e.Customer, e.Name)] = true
	}
	query = fmt.Sprintf("SELECT customerid, username FROM customers WHERE customerid > %d", before[audit.LastCustomer])
	err = store.EachRow(ctx, target.DB(), most, query, func(rows *sql.Rows) error {
		var id int64
		var name sql.RawBytes
		err := rows.Scan(&id, &name)
		delete(missing, customer(id, nameSum(name)))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the customers of %s: %w", target.Label(), err)
	}
	there := func(e entry) bool { return !missing[customer(e.Customer, e.Name)] }
	c.lost = append(c.lost, slices.DeleteFunc(told, there)...)
	return c, nil
}

// customer is what makes a new customer the one that was acknowledged: its number and its name.
func customer(id int64, name uint64) entry { return entry{Customer: id, Name: name} }

// comparison takes the orders that a store holds, in the order of their numbers, against those acknowledged.
type comparison struct {
	acknowledged []entry // in the order of their numbers; what is left to be met
	doubt        map[entry]int
	lost         []entry // and, after the orders, the customers that were lost

	// Unacknowledged orders: purchases in doubt that are there as a whole, and others.
	whole, strange int
	strangers      []entry // the first of the others
}

func newComparison(acknowledged, doubtful []entry) *comparison {
	// Stable, so that of two with one number the later stands behind.
	slices.SortStableFunc(acknowledged, func(a, b entry) int { return cmp.Compare(a.Order, b.Order) })
	c := &comparison{acknowledged: acknowledged, doubt: map[entry]int{}}
	for _, e := range doubtful {
		c.doubt[contents(e)]++
	}
	return c
}

// contents are what makes an order one of the purchases in doubt, as a whole: customer, total and number of lines.
func contents(e entry) entry { return entry{Customer: e.Customer, Total: e.Total, Lines: e.Lines} }

// maxStrangers bounds how many unacknowledged orders are kept: a server can send more than there is memory.
const maxStrangers = 10_000

// next takes one order that the store holds. What was acknowledged under lower numbers, or under this number with other
// contents, is lost. An unacknowledged order may be a purchase in doubt, which then is in doubt no more.
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
	switch what := contents(held); {
	case met:
	case c.doubt[what] > 0:
		c.doubt[what]--
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

// Check compares the entries of all journals of a run with what a target holds. Whether every order that is there is
// consistent is for the audit to say.
func Check(
	ctx context.Context, target store.Database, entries []byte, noted workload.Noted,
) ([]result.Check, error) {
	all, err := read(entries, noted.Target)
	if err != nil {
		return nil, err
	}
	c, err := compare(ctx, target, all, noted.Before, int64(len(entries)/Size))
	if err != nil {
		return nil, err
	}
	strangers := result.Named("orders", numbers(c.strangers))
	if c.strange > len(c.strangers) {
		strangers = fmt.Sprintf("%d, of them first %s", c.strange, strangers)
	}
	var checks []result.Check
	add := func(name string, passed bool, expected, found any) {
		checks = append(checks, result.NewCheck(target.Label(), name, passed, expected, found))
	}
	none := func(name string, lost []entry, what string) {
		add(name, len(lost) == 0, 0, result.Named(what, numbers(lost)))
	}
	none("acknowledged purchases that were lost", of(bought, c.lost), "orders")
	none("acknowledged new customers that were lost", of(registered, c.lost), "customers")
	untold, doubts := c.whole+c.strange, len(of(doubtful, all))
	most := doubts + noted.Untold
	add("unacknowledged orders: purchases in doubt", untold <= most, fmt.Sprintf("0 to %d", most), untold)
	const whole = "unacknowledged orders that are no purchase in doubt as a whole (%d of %d are)"
	expected := "0"
	if noted.Untold > 0 {
		expected = fmt.Sprintf("0 to %d, as ds2 was killed", noted.Untold)
	}
	add(fmt.Sprintf(whole, c.whole, doubts), c.strange <= noted.Untold, expected, strangers)
	return checks, nil
}

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

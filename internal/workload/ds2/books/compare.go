package books

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"

	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/audit"
	"ds2/internal/workload/ds2/calls"
	"ds2/schema"
)

// compareEntries compares entries of a journal with the orders and the customers of a run that a
// target holds.
func compareEntries(
	ctx context.Context, target store.Database, all []entry, before result.Marks, entries int64,
) (*comparison, error) {
	most := 1_000_000 + 100*entries
	c := newComparison(all)
	ask := schema.Question("ds2", "orders of a run", before[audit.LastOrder])
	type order struct {
		ID, Customer int64
		Total        calls.Cents
		Lines        uint16
	}
	err := store.Each(ctx, target.DB(), most, ask, func(o order) error {
		c.takeOrder(entry{
			Kind: bought, Order: o.ID, Customer: o.Customer, Total: o.Total, Lines: o.Lines,
		})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the orders of %s: %w", target.Label(), err)
	}
	ask = schema.Question("ds2", "customers of a run", before[audit.LastCustomer])
	type customer struct {
		ID   int64
		Name sql.RawBytes
	}
	err = store.Each(ctx, target.DB(), most, ask, func(held customer) error {
		delete(c.told, entry{Kind: registered, Customer: held.ID, Name: nameSum(held.Name)})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the customers of %s: %w", target.Label(), err)
	}
	return c, nil
}

// comparison takes what a store holds against what was acknowledged.
type comparison struct {
	// how often each acknowledged order and customer, of any target, is still to be met
	told  map[entry]int
	doubt map[entry]int // the same of the contents of purchases in doubt

	doubts    int     // purchases in doubt
	whole     int     // orders that are one of these
	strange   int     // and those that nobody is known to have made
	strangers []int64 // the first of them
}

// newComparison begins with everything that was acknowledged, or is in doubt, as still to be met.
// The target does not matter: the entries are all of one.
func newComparison(all []entry) *comparison {
	c := &comparison{told: map[entry]int{}, doubt: map[entry]int{}}
	for _, e := range all {
		e.Target = 0
		if e.Kind == doubtful {
			c.doubt[entryContents(e)]++
			c.doubts++
		} else {
			c.told[e]++
		}
	}
	return c
}

// entryContents are what makes an order one of the purchases in doubt, as a whole: customer, total
// and number of lines.
func entryContents(e entry) entry {
	return entry{Customer: e.Customer, Total: e.Total, Lines: e.Lines}
}

// maxStrangers bounds how many unacknowledged orders are kept: a server can send more than there is
// memory.
const maxStrangers = 10_000

// takeOrder takes one order that the store holds. An unacknowledged one, such as one with the
// number of an acknowledged one and other contents, may be a purchase in doubt, which then is in
// doubt no more.
func (c *comparison) takeOrder(held entry) {
	switch what := entryContents(held); {
	case c.told[held] > 0:
		c.told[held]--
	case c.doubt[what] > 0:
		c.doubt[what]--
		c.whole++
	default:
		if c.strange++; c.strange <= maxStrangers {
			c.strangers = append(c.strangers, held.Order)
		}
	}
}

// lostNumbers are the numbers of what of a kind was acknowledged and not met.
func (c *comparison) lostNumbers(k kind) (numbers []int64) {
	for e, n := range c.told {
		if e.Kind == k {
			for range n {
				// a customer's entry has no order
				numbers = append(numbers, cmp.Or(e.Order, e.Customer))
			}
		}
	}
	return numbers
}

// Check compares the entries of all journals of a run with what a target holds. Whether every order
// that is there is consistent is for the audit to say.
func Check(
	ctx context.Context, target store.Database, entries []byte, noted workload.Noted,
) ([]result.Check, error) {
	all, err := readEntries(entries, noted.Target)
	if err != nil {
		return nil, err
	}
	c, err := compareEntries(ctx, target, all, noted.Before, int64(len(entries)/Size))
	if err != nil {
		return nil, err
	}
	strangers := result.Named("orders", c.strangers)
	if c.strange > len(c.strangers) {
		strangers = fmt.Sprintf("%d, of them first %s", c.strange, strangers)
	}
	var checks []result.Check
	add := func(name string, passed bool, expected, found any) {
		checks = append(checks, result.NewCheck(target.Label(), name, passed, expected, found))
	}
	addLost := func(name, objects string, k kind) {
		lost := c.lostNumbers(k)
		add("acknowledged "+name+" that were lost", lost == nil, 0, result.Named(objects, lost))
	}
	addLost("purchases", "orders", bought)
	addLost("new customers", "customers", registered)
	untold := c.whole + c.strange
	most := c.doubts + noted.Untold
	add("unacknowledged orders: purchases in doubt", untold <= most,
		fmt.Sprintf("0 to %d", most), untold)
	const whole = "unacknowledged orders that are no purchase in doubt as a whole (%d of %d are)"
	expected := "0"
	if noted.Untold > 0 {
		expected = fmt.Sprintf("0 to %d, as ds2 was killed", noted.Untold)
	}
	add(fmt.Sprintf(whole, c.whole, c.doubts), c.strange <= noted.Untold, expected, strangers)
	return checks, nil
}

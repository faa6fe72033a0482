package books

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/audit"
)

// Cuts compares what the first target has acknowledged with what it holds after each of several cuts of its server.
type Cuts struct {
	books    *Books
	target   store.Database
	products int             // of the dataset
	mark     result.Marks    // before the first orders
	before   map[int32]int64 // pieces sold by product, when takeSold was asked last
	ends     []int64         // of the journal, at each cut
	lost     map[entry]bool  // what was found lost so far
}

var _ workload.Cuts = (*Cuts)(nil)

// NewCuts notes what the target, whose dataset has so many products, holds before the first orders.
func NewCuts(ctx context.Context, b *Books, target store.Database, products int, before result.Marks) (*Cuts, error) {
	sales, err := readSales(ctx, target.DB(), products)
	if err != nil {
		return nil, fmt.Errorf("read the stock of %s: %w", target.Label(), err)
	}
	return &Cuts{books: b, target: target, products: products, mark: before, before: sales, lost: map[entry]bool{}}, nil
}

// After compares what has been acknowledged with what the server holds, while nobody is at work on it: what was
// acknowledged since the cut before the last and, where some of that was lost before the last, all of it.
func (c *Cuts) After(ctx context.Context, entries func(from int64) ([]byte, error), end int64, cut *result.Cut) error {
	journal := func(from int64) ([]entry, error) {
		text, err := entries(from)
		if err != nil {
			return nil, err
		}
		return read(text, 0)
	}
	last, from := int64(0), int64(0) // where this cycle begins in the journal, and where the comparison does
	if n := len(c.ends); n > 0 {
		last = c.ends[n-1]
	}
	if n := len(c.ends); n > 1 {
		from = c.ends[n-2]
	}
	c.ends = append(c.ends, end)
	cycle, err := journal(last)
	if err != nil {
		return err
	}
	doubtful := of(doubtful, cycle)
	lost, whole, err := c.missing(ctx, journal, from, doubtful)
	if err == nil && from > 0 && !within(cycle, lost) {
		lost, whole, err = c.missing(ctx, journal, 0, doubtful)
	}
	if err != nil {
		return err
	}
	for _, e := range lost {
		c.lost[e] = true
	}
	orders := of(bought, lost)
	cut.Acknowledged, cut.InDoubt, cut.Kept = int64(len(of(bought, cycle))), int64(len(doubtful)), int64(whole)
	cut.Lost, cut.LostWhat = int64(len(orders)), result.Ranges(numbers(orders))
	cut.LostBesides = int64(len(of(registered, lost)))
	cut.Own = map[string]int64{LostCustomers: cut.LostBesides}

	now, err := readSales(ctx, c.target.DB(), c.products)
	if err != nil {
		return fmt.Errorf("read the stock of %s: %w", c.target.Label(), err)
	}
	old := stale(c.before, c.books.takeSold(0), now)
	c.before = now
	cut.Stale, cut.StaleWhat = int64(len(old)), result.Ranges(old)
	return nil
}

// LostCustomers is the name of the count of acknowledged new customers that a cut lost.
const LostCustomers = "lost_customers"

// missing gives what the journal says from a byte on and the server does not hold, apart from what was lost at earlier
// cuts, and how many of the purchases in doubt are there as a whole.
func (c *Cuts) missing(ctx context.Context, journal func(from int64) ([]entry, error), from int64, doubtful []entry) (lost []entry, whole int, err error) {
	all, err := journal(from)
	if err != nil {
		return nil, 0, err
	}
	told := of(bought, all)
	above := c.mark[audit.LastOrder]
	if from > 0 && len(told) > 0 {
		above = slices.MinFunc(told, func(a, b entry) int { return cmp.Compare(a.Order, b.Order) }).Order - 1
	}
	most := mostRows(c.ends[len(c.ends)-1] / int64(Size))
	orders, err := compareOrders(ctx, c.target.DB(), told, doubtful, above, most)
	if err != nil {
		return nil, 0, fmt.Errorf("read the orders of %s: %w", c.target.Label(), err)
	}
	customers, err := compareCustomers(ctx, c.target.DB(), of(registered, all), c.mark[audit.LastCustomer], most)
	if err != nil {
		return nil, 0, fmt.Errorf("read the customers of %s: %w", c.target.Label(), err)
	}
	for _, e := range append(orders.lost, customers...) {
		if !c.lost[e] {
			lost = append(lost, e)
		}
	}
	return lost, orders.whole, nil
}

// within says whether some entries are all among others.
func within(all, some []entry) bool {
	set := make(map[entry]bool, len(all))
	for _, e := range all {
		set[e] = true
	}
	return !slices.ContainsFunc(some, func(e entry) bool { return !set[e] })
}

package books

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload/ds2/audit"
)

// Cuts compares what the first target has acknowledged with what it holds after each of several cuts of its server.
type Cuts struct {
	books    *Books
	target   store.Database
	products int             // of the dataset
	mark     result.Marks    // before the first orders
	before   map[int32]int64 // pieces sold by product, when takeSold was asked last
	ends     [2]int64        // of the journal, at the last two cuts
	lost     map[entry]bool  // what was found lost so far
}

// NewCuts notes what the target, whose dataset has so many products, holds before the first orders.
func NewCuts(ctx context.Context, b *Books, target store.Database, products int, before result.Marks) (*Cuts, error) {
	sales, err := readSales(ctx, target, products)
	if err != nil {
		return nil, err
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
	from, last := c.ends[0], c.ends[1] // where the comparison begins in the journal, and where this cycle does
	c.ends = [...]int64{last, end}
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

	now, err := readSales(ctx, c.target, c.products)
	if err != nil {
		return err
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
func (c *Cuts) missing(
	ctx context.Context, journal func(from int64) ([]entry, error), from int64, doubtful []entry,
) (lost []entry, whole int, err error) {
	all, err := journal(from)
	if err != nil {
		return nil, 0, err
	}
	told := of(bought, all)
	above := c.mark[audit.LastOrder]
	if from > 0 && len(told) > 0 {
		above = slices.MinFunc(told, func(a, b entry) int { return cmp.Compare(a.Order, b.Order) }).Order - 1
	}
	found, err := compare(ctx, c.target, all, doubtful, c.mark, above, c.ends[1]/int64(Size))
	if err != nil {
		return nil, 0, err
	}
	known := func(e entry) bool { return c.lost[e] }
	return slices.DeleteFunc(found.lost, known), found.whole, nil
}

// within says whether some entries are all among others.
func within(all, some []entry) bool {
	set := make(map[entry]bool, len(all))
	for _, e := range all {
		set[e] = true
	}
	return !slices.ContainsFunc(some, func(e entry) bool { return !set[e] })
}

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

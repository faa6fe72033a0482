// Package audit asks a database whether it holds what the driver says it did: rows, keys, sums and
// stock, in SQL that every engine understands. After a run it looks up the run's rows of ORDERS and
// ORDERLINES and reads CUST_HIST, which no index leads through by orders, behind the rows of the
// load where the engine knows their place, else as a whole; INVENTORY and PRODUCTS as a whole; and
// counts the dataset's customers and orders in two indexes. Of the whole database it reads each
// large table once. It changes nothing but notes of what it read, and repairs nothing. The database
// must be idle meanwhile.
package audit

import (
	"context"
	"fmt"

	"ds2/datagen"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/calls"
)

// unchanging are the tables whose rows no run updates: it does so in INVENTORY alone.
var unchanging = []string{
	"customers",
	"orders",
	"orderlines",
	"cust_hist",
	"products",
	"categories",
}

// uncounted are those of them of whose rows no check knows the number. A customer whom two users
// want to be may count as deleted.
var uncounted = []string{"orderlines", "cust_hist"}

// The marks of a database.
const (
	LastCustomer = "customerid" // the highest
	LastOrder    = "orderid"
	Sales        = "sales_print" // print of all pieces sold, by INVENTORY
	// updated, or deleted, since the server's statistics began; not all count them
	Changed = "rows_changed"
)

// The names in ds2_info of the sales that were read last, and of the first ones, to which a reset
// goes back.
const (
	firstSales = "first_sales"
	lastSales  = "last_sales"
)

// sales is what stands there.
type sales struct {
	order, print int64 // the highest order, and the print of all sales
	history      int64 // behind which place of CUST_HIST later rows lie; 0: not known
}

// parseSales reads a note of sales. Of one that ds2 did not write, or an older one in another form,
// the order is -1, which no database has: the sales are then read again.
func parseSales(text string) (s sales) {
	if n, _ := fmt.Sscan(text, &s.order, &s.print, &s.history); n != 3 {
		return sales{order: -1}
	}
	return s
}

// ChangeCounter is an engine that tells how many rows have been updated in some tables, and deleted
// from others, since the server's statistics began.
type ChangeCounter interface {
	Changed(ctx context.Context, updated, deleted []string) (int64, error)
}

// ReadMarks are the marks of a database, before a run or after it, for a workload.Account. It reads
// the end of two indexes, and after a run all of INVENTORY, whose print it then notes in the
// database: sales change with orders alone, so that before the next run the note holds as long as
// the highest order is the same. Where it does not hold, an audit asks about each product.
func ReadMarks(ctx context.Context, target store.Database, after bool) (result.Marks, error) {
	info, err := store.ReadInfo(ctx, target.DB())
	if err != nil {
		return nil, err
	}
	customer, order, err := Highest(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("read the highest customer and order: %w", err)
	}
	m := result.Marks{LastCustomer: customer, LastOrder: order}
	last := parseSales(info[lastSales])
	first := parseSales(info[firstSales])
	switch {
	case !after && last.order == order:
		m[Sales] = last.print
	case !after && first.order == order:
		m[Sales] = first.print
	default:
		if m[Sales], err = readSales(ctx, target, info, order); err != nil {
			return nil, err
		}
	}
	if engine, ok := target.(ChangeCounter); ok {
		changed, err := engine.Changed(ctx, unchanging, uncounted)
		if err != nil {
			return nil, err
		}
		m[Changed] = changed
	}
	return m, nil
}

// Highest are the highest numbers of a customer and of an order; 0: there is none.
func Highest(ctx context.Context, target store.Database) (customer, order int64, err error) {
	err = target.DB().QueryRowContext(ctx, question{}.ask("highest keys")).Scan(&customer, &order)
	return customer, order, err
}

// readSales reads the print of all sales, and notes it.
func readSales(
	ctx context.Context,
	target store.Database,
	info store.Info,
	order int64,
) (print int64, err error) {
	if err := target.DB().
		QueryRowContext(ctx, question{}.ask("sales")).
		Scan(&print); err != nil {
		return 0, fmt.Errorf("read the sales: %w", err)
	}
	name := lastSales
	now := sales{order: order, print: print}
	if info[firstSales] == "" {
		name = firstSales
	}
	if reader, ok := target.(BulkReader); ok {
		if _, now.history, err = reader.Slices(ctx, "cust_hist", 0, sliceBytes); err != nil {
			return 0, err
		}
	}
	return print, store.SetInfo(ctx, target.DB(), name,
		fmt.Sprint(now.order, " ", now.print, " ", now.history))
}

// Check audits one target. The size is that of the dataset that was loaded; nil: what ds2_info
// says. A database that DS2's own scripts loaded needs it. What is found is in the checks; the
// error is only about the asking.
func Check(
	ctx context.Context,
	target store.Database,
	engines calls.Engines,
	size *datagen.Size,
	o workload.Audit,
) (checks []result.Check, err error) {
	ignore := func(string) {}
	for _, tell := range []*func(string){&o.Warn, &o.Omit} {
		if *tell == nil {
			*tell = ignore
		}
	}
	a := &audit{
		target: target, engines: engines, given: size, options: o,
		answers: map[string]int64{}, notes: map[string]string{}, named: map[string][]int64{},
	}
	if err := a.ask(ctx); err != nil {
		return nil, target.Wrap("audit "+target.Label(), err)
	}
	for _, e := range a.listExpectations() {
		found := a.answers[e.name]
		holds := e.from <= found && found <= e.to
		said := e.format(found) + a.notes[e.name]
		if keys := a.named[e.name]; len(keys) > 0 {
			said += ": " + result.Ranges(keys)
		}
		checks = append(checks, result.NewCheck(target.Label(), e.name, holds, e, said))
	}
	return checks, nil
}

// sizeOf finds the size that the database should have: what it says itself or, where the kit did
// not load it, what was given.
func (a *audit) sizeOf(ctx context.Context) (info store.Info, err error) {
	if info, err = store.ReadInfo(ctx, a.target.DB()); err != nil {
		if a.given != nil && store.Classify(a.target.Wrap("read ds2_info", err)) == store.Config {
			a.size = *a.given
			return nil, nil
		}
		return nil, err
	}
	if err := info.CheckReady(); err != nil {
		return nil, err
	}
	a.searched = true
	a.size, _, err = Loaded(info)
	if err == nil && a.given != nil && *a.given != a.size {
		err = fmt.Errorf("it holds a dataset of size %s, not %s", a.size, *a.given)
	}
	return info, err
}

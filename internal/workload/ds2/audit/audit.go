// Package audit asks a database whether it holds what the driver says it did: rows, keys, sums and stock, in SQL that
// every engine understands. After a run it looks up the run's rows of ORDERS and ORDERLINES, but reads CUST_HIST, which no index leads
// through by orders, INVENTORY and PRODUCTS, and counts the dataset's customers and orders in two indexes, as a whole: that grows with
// the database. Of the whole database it reads each large table once. It changes nothing and repairs nothing. Nobody may be at work on the database meanwhile.
package audit

import (
	"context"
	"fmt"

	"ds2/datagen"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/calls"
	"ds2/internal/workload/ds2/loaded"
)

// unchanging are the tables whose rows no run updates: it does so in INVENTORY alone.
var unchanging = []string{"customers", "orders", "orderlines", "cust_hist", "products", "categories"}

// The marks of a database.
const (
	LastCustomer = "customerid" // the highest
	LastOrder    = "orderid"
	Sales        = "sales_print"  // of the products; see salesPrint
	Changed      = "rows_changed" // in the unchanging tables, since the server's statistics began; missing where it does not count them
)

// ReadMarks reads the marks of a database, before a run and after it, for a workload.Account. It reads all of INVENTORY and the end of
// two indexes.
func ReadMarks(ctx context.Context, target store.Database) (result.Marks, error) {
	var customer, order, sales int64
	query := "SELECT COALESCE((SELECT MAX(customerid) FROM customers), 0), COALESCE((SELECT MAX(orderid) FROM orders), 0), " + salesPrint + " FROM inventory i"
	if err := target.DB().QueryRowContext(ctx, query).Scan(&customer, &order, &sales); err != nil {
		return nil, fmt.Errorf("read the highest customer and order: %w", err)
	}
	m := result.Marks{LastCustomer: customer, LastOrder: order, Sales: sales}
	if count := target.Can().Changed; count != nil {
		changed, err := count(ctx, unchanging)
		if err != nil {
			return nil, err
		}
		m[Changed] = changed
	}
	return m, nil
}

// Check audits one target. The size is that of the dataset that was loaded; nil: what ds2_info says. A database that DS2's own
// scripts loaded needs it. What is found is in the checks; the error is only about the asking.
func Check(ctx context.Context, target store.Database, engines calls.Engines, size *datagen.Size, o workload.Audit) ([]result.Check, error) {
	a := &audit{target: target, engines: engines, given: size, options: o, answers: map[string]int64{}, notes: map[string]string{}}
	if err := a.ask(ctx); err != nil {
		return nil, target.Wrap("audit "+target.Label(), err)
	}
	var checks []result.Check
	for _, e := range a.expectations() {
		found := a.answers[e.name]
		checks = append(checks, result.Check{
			Target: target.Label(), Name: e.name,
			Passed: e.want.holds(found), Expected: e.want.String(), Found: e.want.format(found) + a.notes[e.name],
		})
	}
	return checks, nil
}

// sizeOf is the size that the database should have: what it says itself or, where the kit did not load it, what was given.
func sizeOf(ctx context.Context, target store.Database, given *datagen.Size) (size datagen.Size, ours bool, err error) {
	info, err := store.ReadInfo(ctx, target.DB())
	if err != nil {
		if given != nil && store.Classify(target.Wrap("read ds2_info", err)) == store.Config {
			return *given, false, nil
		}
		return size, false, err
	}
	if err := info.CheckReady(); err != nil {
		return size, false, err
	}
	size, err = loaded.Size(info)
	if err == nil && given != nil && *given != size {
		err = fmt.Errorf("it holds a dataset of size %s, not %s", size, *given)
	}
	return size, true, err
}

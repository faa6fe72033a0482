package audit

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"

	"ds2/datagen"
	"ds2/internal/store"
)

// audit is an audit under way. Its large tables are read in passes: ORDERS and ORDERLINES together, part by part in the
// order of their keys, CUST_HIST as its rows lie. Where the passes show that something may be wrong, and there only, the
// exact question follows.
type audit struct {
	target  store.Store
	options Options
	size    datagen.Size

	baseOrders int64 // of the dataset
	since      int64 // the orders above are looked at one by one
	parts      []part

	mu      sync.Mutex
	answers map[string]int64  // by name of the check
	notes   map[string]string // what is to be said of an answer
}

// partOrders is how many orders are read at once: what the server has to keep of them fits into its memory for one query.
const partOrders = 50_000

// part is some orders, and what the passes found of them.
type part struct {
	span
	lines, history tally
	sold           int64 // print
	strays         int64 // lines with a product that the dataset does not have
}

// tally is a number of rows and their print.
type tally struct{ rows, print int64 }

func (t tally) add(rows, print int64) tally { return tally{t.rows + rows, modulo(t.print + print)} }

// modulo is what a print stands for.
func modulo(print int64) int64 { return (print%prime + prime) % prime }

// ask asks everything.
func (a *audit) ask(ctx context.Context) (err error) {
	db := a.target.DB()
	if a.size, err = sizeOf(ctx, a.target, a.options.Size); err != nil {
		return err
	}
	a.baseOrders = int64(a.size.OrdersPerMonth) * datagen.Months
	if !a.options.Whole {
		a.since = a.options.Run.Before.Order
	}
	if err := a.divide(ctx, db); err != nil {
		return err
	}
	tables, total, err := tableBytes(ctx, a.target)
	if err != nil {
		return err
	}
	w, err := connect(ctx, a.target, cmp.Or(a.options.TempLimit, total/10), a.options)
	if err != nil {
		return err
	}
	defer w.close()
	history, err := a.historyTasks(ctx, tables["cust_hist"])
	if err != nil {
		return err
	}
	tasks := slices.Concat(a.counts(tables), interleave(history, a.partTasks(tables["orders"]+tables["orderlines"])))
	if err := w.run(ctx, tasks); err != nil {
		return err
	}
	w.progress = nil
	return w.run(ctx, a.followUps())
}

// divide makes the parts. The first and the last take in whatever has an order number outside of those in ORDERS.
func (a *audit) divide(ctx context.Context, db *sql.DB) error {
	var last int64
	if err := db.QueryRowContext(ctx, "SELECT COALESCE(MAX(orderid), 0) FROM orders").Scan(&last); err != nil {
		return fmt.Errorf("read the highest order: %w", err)
	}
	for from := a.since; from < last || len(a.parts) == 0; from += partOrders {
		a.parts = append(a.parts, part{span: span{from, from + partOrders}})
	}
	if a.options.Whole {
		a.parts[0].from = lowest
	}
	a.parts[len(a.parts)-1].to = highest
	return nil
}

// set notes an answer, and add adds to it.
func (a *audit) set(name string, n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[name] = n
}

func (a *audit) add(name string, n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[name] += n
}

// answer is a task that sets the answer to a question.
func (a *audit) answer(name, query string, bytes int64) task {
	return task{"count " + name, bytes, func(ctx context.Context, conn *sql.Conn) error {
		var n int64
		err := conn.QueryRowContext(ctx, query).Scan(&n)
		a.set(name, n)
		return err
	}}
}

// counts are the questions that need no pass: about small tables, and counts for which an index is read or less.
func (a *audit) counts(tables map[string]int64) []task {
	const indexShare = 10 // a primary key has about a tenth of its table's bytes
	tasks := []task{
		a.answer(datasetCustomers, fmt.Sprint(count, "customers WHERE customerid BETWEEN 1 AND ", a.size.Customers), tables["customers"]/indexShare),
		a.answer(datasetOrders, fmt.Sprint(count, "orders WHERE orderid BETWEEN 1 AND ", a.baseOrders), tables["orders"]/indexShare),
		a.answer(allProducts, count+"products", 0),
		a.answer(inventoryRows, count+"inventory", 0),
		a.answer(allCategories, count+"categories", 0),
		a.answer(negativeStock, count+"inventory WHERE quan_in_stock < 0", 0),
		a.answer(datasetProducts, fmt.Sprint(count, "products WHERE prod_id BETWEEN 1 AND ", a.size.Products), 0),
		a.answer(salesNow, salesPrint, 0),
	}
	for _, key := range foreignKeys {
		if !key.large() {
			tasks = append(tasks, a.answer(key.name(), key.query("1 = 1"), 0))
		}
	}
	run := a.options.Run
	if run == nil {
		return tasks
	}
	orders := "orders WHERE " + where("orderid", []span{{run.Before.Order, run.After.Order}})
	if before, after := run.Before.Changed, run.After.Changed; before != nil && after != nil && *after >= *before {
		a.set(changedDataset, *after-*before) // lower: the server's statistics were reset meanwhile
	}
	return append(tasks,
		a.answer(runOrders, count+orders, 0),
		a.answer(runTotals, "SELECT COALESCE(SUM(CAST(totalamount * 100 AS bigint)), 0) FROM "+orders, 0),
		a.answer(runCustomers, count+"customers WHERE "+where("customerid", []span{{run.Before.Customer, run.After.Customer}}), 0))
}

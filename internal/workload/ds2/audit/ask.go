package audit

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/calls"
)

// audit is an audit under way. Its large tables are read in passes: ORDERS and ORDERLINES together,
// part by part in the order of their keys, CUST_HIST as its rows lie. Where the passes show that
// something may be wrong, and there only, the exact question follows.
type audit struct {
	target  store.Database
	engines calls.Engines
	options workload.Audit
	given   *datagen.Size // may be nil
	size    datagen.Size

	searched   bool     // the kit loaded it, so its procedures are those that a session calls
	dataset    *dataset // to compare the database with; nil: it is not
	lastOrder  int64
	baseOrders int64 // of the dataset
	since      int64 // the orders above are looked at one by one
	partOrders int64 // orders of a part
	parts      []part
	temp       int64       // bytes of temporary files that all sessions together may write
	read       func(int64) // is told of bytes that have been read
	warned     sync.Once   // that the server does not hold them to it

	mu      sync.Mutex
	answers map[string]int64   // by name of the check
	notes   map[string]string  // what is to be said of an answer
	named   map[string][]int64 // keys of rows that are wrong
}

// A part has at most maxPart orders: what the server has to keep of them fits into its memory for
// one query. Of more orders there are parts enough to see how fast it goes, but not of less than
// minPart orders, each of which costs a few statements.
const (
	maxPart  = 50_000
	minPart  = 10_000
	someWork = 100 // parts
)

// part is some orders, and what the passes found of them.
type part struct {
	span
	lines, history tally
	sold           int64 // print
	strays         int64 // lines with a product that the dataset does not have
}

// tally is a number of rows and their print.
type tally struct{ rows, print int64 }

// moduloPrime is what a print stands for.
func moduloPrime(print int64) int64 { return (print%prime + prime) % prime }

// ask asks all questions: first what indexes and small tables answer, then the passes over the
// large tables side by side, and last, of parts that do not agree, the exact questions.
func (a *audit) ask(ctx context.Context) (err error) {
	info, err := a.sizeOf(ctx)
	if err != nil {
		return err
	}
	a.baseOrders = int64(a.size.OrdersPerMonth) * datagen.Months
	if !a.options.Whole {
		a.since = a.options.Run.Before[LastOrder]
	}
	if err := a.compareDataset(ctx, info); err != nil {
		return err
	}
	if err := a.divideParts(ctx); err != nil {
		return err
	}
	tables, total := tableBytes(ctx, a.target)
	a.temp = cmp.Or(a.options.TempLimit, total/10)
	loaded := parseSales(info[firstSales]).history
	if a.options.Whole {
		loaded = 0
	}
	history, err := a.historyTasks(ctx, loaded, tables["cust_hist"])
	if err != nil {
		return err
	}
	counts := a.listCounts(tables)
	parts := a.partTasks(tables["orders"] + tables["orderlines"])
	if a.dataset != nil {
		parts = append(a.dataset.rangeTasks(tables), parts...)
	}
	passes := interleave(history, parts)
	if run := a.options.Run; run != nil {
		before, counted := run.Before[Changed]
		if after, again := run.After[Changed]; counted && again && after >= before {
			// lower: the server's statistics were reset meanwhile
			a.answers[changedDataset] = after - before
		}
		q := question{
			Where: columnWithin("customerid",
				span{run.Before[LastCustomer], run.After[LastCustomer]}),
		}
		passes = append(passes, a.answerTask(q.ask("customers"), 0, runCustomers))
	}
	bytes := int64(0)
	for _, t := range slices.Concat(counts, passes) {
		bytes += t.bytes
	}
	a.read = a.options.Tell.Adder("audit "+a.target.Label(), bytes)
	if err := a.runTasks(ctx, false, counts); err != nil {
		return err
	}
	if a.searched {
		if err := a.searchProducts(ctx); err != nil {
			return err
		}
	}
	if err := a.runPasses(ctx, passes); err != nil {
		return err
	}
	if loaded > 0 && slices.ContainsFunc(a.parts, func(p part) bool {
		return p.lines != p.history
	}) {
		// Rows may lie where others were removed: only what all of the table holds says that some
		// are wrong.
		if history, err = a.historyTasks(ctx, 0, 0); err != nil {
			return err
		}
		for i := range a.parts {
			a.parts[i].history = tally{}
		}
		if err := a.runTasks(ctx, true, history); err != nil {
			return err
		}
	}
	return a.runTasks(ctx, true, a.followUps())
}

// runPasses runs the passes, makes the dataset's rows beside them, and asks about what differs.
func (a *audit) runPasses(ctx context.Context, passes []task) error {
	if a.dataset == nil {
		return a.runTasks(ctx, true, passes)
	}
	group, stop := errgroup.WithContext(ctx)
	group.Go(func() error { return a.dataset.makeRows(stop) })
	group.Go(func() error { return a.runTasks(stop, true, passes) })
	if err := group.Wait(); err != nil {
		return err
	}
	return a.runTasks(ctx, true, a.settleRanges())
}

// divideParts makes the parts. The first and the last take in whatever has an order number outside
// of those in ORDERS.
func (a *audit) divideParts(ctx context.Context) error {
	_, last, err := Highest(ctx, a.target)
	if err != nil {
		return fmt.Errorf("read the highest order: %w", err)
	}
	if a.dataset != nil {
		last = max(last, a.baseOrders)
	}
	a.lastOrder = last
	a.partOrders = maxPart
	if orders := last - a.since; orders > maxPart {
		a.partOrders = min(max(orders/someWork, minPart), maxPart)
	}
	for from := a.since; from < last || len(a.parts) == 0; from += a.partOrders {
		a.parts = append(a.parts, part{span: span{from, from + a.partOrders}})
	}
	if a.options.Whole {
		a.parts[0].from = lowest
	}
	a.parts[len(a.parts)-1].to = highest
	if a.dataset != nil {
		a.dataset.divideAs(a)
	}
	return nil
}

// readNumbers reads a query's one row: a number of each name.
func readNumbers(
	ctx context.Context, conn *sql.Conn, query string, names ...string,
) (map[string]int64, error) {
	numbers := make([]int64, len(names))
	columns := make([]any, len(names))
	for i := range numbers {
		columns[i] = &numbers[i]
	}
	err := conn.QueryRowContext(ctx, query).Scan(columns...)
	found := map[string]int64{}
	for i, name := range names {
		found[name] = numbers[i]
	}
	return found, err
}

// answerTask is a task that answers questions by a query's one row.
func (a *audit) answerTask(query string, bytes int64, names ...string) task {
	return task{"count " + names[0], bytes, func(ctx context.Context, conn *sql.Conn) error {
		found, err := readNumbers(ctx, conn, query, names...)
		a.mu.Lock()
		defer a.mu.Unlock()
		maps.Copy(a.answers, found)
		return err
	}}
}

// question is one about this database.
func (a *audit) question() question {
	return question{
		Customers:  int64(a.size.Customers),
		Products:   int64(a.size.Products),
		Categories: categoryNames,
	}
}

// maxNamed bounds how many keys of wrong rows are kept for a check.
const maxNamed = 1000

// noteFault counts a row that a check finds wrong, and notes its key.
func (a *audit) noteFault(check string, key int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[check]++
	if len(a.named[check]) < maxNamed {
		a.named[check] = append(a.named[check], key)
	}
}

// listCounts are the questions that need no pass: about small tables, and counts for which an index
// is read or less.
func (a *audit) listCounts(tables map[string]int64) []task {
	const indexShare = 10 // a primary key has a tenth of its table's bytes
	q := a.question()
	var tasks []task
	if a.dataset == nil { // else the comparison counts them
		q.Where = columnWithin("customerid", span{0, q.Customers})
		bytes := tables["customers"] / indexShare
		tasks = append(tasks, a.answerTask(q.ask("customers"), bytes, datasetCustomers))
	}
	q.Where = columnWithin("orderid", span{0, a.baseOrders})
	tasks = append(tasks,
		a.answerTask(q.ask("orders"), tables["orders"]/indexShare, datasetOrders),
		a.answerTask(q.ask("products"), 0, allProducts, datasetProducts),
		a.answerTask(q.ask("inventory"), 0, inventoryRows, negativeStock, salesNow),
		a.answerTask(q.ask("categories"), 0, allCategories, renamedCategories),
	)
	for _, key := range smallKeys {
		tasks = append(tasks, a.answerTask(key.orphans("1 = 1"), 0, key.name()))
	}
	return tasks
}

// searchProducts has the procedures of the workload look for the title and the actor of the last
// product, and counts the products that they miss: the full-text index holds what it should only
// where they find all that a comparison finds.
func (a *audit) searchProducts(ctx context.Context) error {
	session, err := a.engines[a.target.Engine()](ctx, a.target)
	if err != nil {
		return err
	}
	defer session.Close(ctx)
	for _, s := range []struct {
		column, missed string
		op             calls.Op
	}{{"title", missedTitle, calls.OpBrowseByTitle}, {"actor", missedActor, calls.OpBrowseByActor}} {
		var text string
		var n int
		query := question{Column: s.column}.ask("title or actor")
		err := a.target.DB().QueryRowContext(ctx, query).Scan(&text, &n)
		if errors.Is(err, sql.ErrNoRows) {
			continue // no products: other checks say so
		}
		if err != nil {
			return err
		}
		found, err := session.Browse(ctx, &calls.Browse{Op: s.op, Batch: n, Text: []byte(text)})
		if err != nil {
			return fmt.Errorf("search for %s %q: %w", s.column, text, err)
		}
		a.answers[s.missed] = int64(n - found)
	}
	return nil
}

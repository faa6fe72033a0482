package audit

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"

	"ds2/internal/store"
)

// What is asked besides to learn what must be asked exactly.
const (
	datasetProducts = "products of the dataset"
	salesNow        = "print of all sales"
)

// sliceBytes of CUST_HIST are read by one statement, where the engine can tell its slices.
const sliceBytes = 16 << 20

// partTasks read ORDERS and ORDERLINES, part by part.
func (a *audit) partTasks(bytes int64) []task {
	var tasks []task
	bytes /= int64(len(a.parts))
	for i := range a.parts {
		if added, some := a.addedSpan(i); some {
			tasks = append(tasks, a.partTask(&a.parts[i], added, bytes))
		}
	}
	return tasks
}

// partTask is the task that reads orders and lines of a span of a part.
func (a *audit) partTask(p *part, s span, bytes int64) task {
	return task{
		"read orders and orderlines", bytes,
		func(ctx context.Context, conn *sql.Conn) error { return a.readPart(ctx, conn, p, s) },
	}
}

// readPart reads orders and lines of a part, and asks at once what concerns them alone.
func (a *audit) readPart(ctx context.Context, conn *sql.Conn, p *part, s span) error {
	q := a.question()
	q.Computed = max(a.baseOrders, a.since)
	q.New = s.to > q.Computed
	if r := a.options.Run; r != nil {
		q.Run = bounds{r.Before[LastOrder], r.After[LastOrder]}
	}
	q.Where = columnWithin("orderid", s)
	q.WhereOrders = columnWithin("o.orderid", s)
	q.WhereLines = columnWithin("l.orderid", s)
	orders, err := readNumbers(ctx, conn, q.ask("pass over orders"),
		"orders", "strangers", wrongTax, wrongTotal, runOrders, runTotals)
	if err != nil {
		return err
	}
	lines, err := readNumbers(ctx, conn, q.ask("pass over lines"), "orders", lineOrder.name(),
		misnumbered, "strays", "lines", wrongNet, "print", "sold")
	if err != nil {
		return err
	}
	a.mu.Lock()
	p.strays += lines["strays"]
	p.lines = p.lines.addTally(tally{lines["lines"], lines["print"]})
	p.sold = moduloPrime(p.sold + lines["sold"])
	a.answers[withoutLines] += orders["orders"] - lines["orders"]
	for _, found := range []map[string]int64{orders, lines} {
		for name, n := range found {
			a.answers[name] += n
		}
	}
	a.mu.Unlock()
	if orders["strangers"] == 0 {
		return nil
	}
	// Most are new customers.
	q.Where = columnWithin("c.orderid", s)
	return store.Each(ctx, conn, math.MaxInt64, q.ask("strangers"),
		func(stranger struct{ Order int64 }) error {
			a.noteFault(orderCustomer.name(), stranger.Order)
			return nil
		})
}

// historyTasks read CUST_HIST, which no index leads through by orders, behind a place of its rows:
// once, and of a run only its rows are looked at.
func (a *audit) historyTasks(ctx context.Context, behind, bytes int64) ([]task, error) {
	var slices []string
	if reader, ok := a.target.(BulkReader); ok {
		var err error
		if slices, _, err = reader.Slices(ctx, "cust_hist", behind, sliceBytes); err != nil {
			return nil, err
		}
	}
	if len(slices) == 0 {
		slices = []string{"1 = 1"}
	}
	bytes = min(bytes/int64(len(slices)), sliceBytes)
	var tasks []task
	for _, slice := range slices {
		if !a.options.Whole {
			slice += fmt.Sprintf(" AND h.orderid > %d", a.since)
		}
		q := question{Where: slice, First: a.since + 1, PartOrders: a.partOrders}
		query := q.ask("pass over history")
		tasks = append(
			tasks,
			task{"read cust_hist", bytes, func(ctx context.Context, conn *sql.Conn) error {
				return store.Each(ctx, conn, math.MaxInt64, query, a.addHistory)
			}},
		)
	}
	return tasks, nil
}

// passed is what a pass over CUST_HIST found of a part.
type passed struct{ Part, Rows, Print int64 }

// addHistory adds what was found to its part. Rows of orders that no part has, such as of a
// negative number, go to the first or the last, whose spans have no bound.
func (a *audit) addHistory(found passed) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := &a.parts[min(max(found.Part, 0), int64(len(a.parts)-1))]
	p.history = p.history.addTally(tally{found.Rows, found.Print})
	return nil
}

// atMostParts is of how many parts with faults the exact questions are asked: each question reads
// CUST_HIST again.
const atMostParts = 16

// exact is an exact question about orders in some spans.
type exact struct {
	check    string
	question string
	key      foreignKey
	spans    []span // none: it is not asked
	note     string
}

// followUps are the exact questions that the passes gave reason to ask.
func (a *audit) followUps() []task {
	all := []span{{lowest, highest}}
	if !a.options.Whole {
		all[0].from = a.since
	}
	var tasks []task
	var unlike, strays []span
	var sold int64
	for _, p := range a.parts {
		sold = moduloPrime(sold + p.sold)
		if p.lines != p.history {
			unlike = append(unlike, p.span)
		}
		if p.strays > 0 {
			strays = append(strays, p.span)
		}
	}
	note := ""
	if found := len(unlike); found > atMostParts {
		unlike = unlike[:atMostParts]
		note = fmt.Sprintf(" in %d of the %d parts of %d orders that have faults",
			atMostParts, found, a.partOrders)
	}
	// The dataset's customers and products are all there, so that of their numbers there is nothing
	// to ask; or they are not.
	lessCustomers := a.answers[datasetCustomers] != int64(a.size.Customers)
	lessProducts := a.answers[datasetProducts] != int64(a.size.Products)
	orphans := func(k foreignKey, less bool, spans []span, note string) exact {
		if less {
			return exact{k.name(), "orphans", k, all, ""}
		}
		return exact{k.name(), "orphans", k, spans, note}
	}
	for _, e := range []exact{
		{disagreeing, "disagreeing", foreignKey{}, unlike, note},
		{anothersOrder, "another's", foreignKey{}, unlike, note},
		orphans(historyOrder, false, unlike, note),
		orphans(orderCustomer, lessCustomers, nil, ""),
		orphans(historyCustomer, lessCustomers, unlike, note),
		orphans(lineProduct, lessProducts, strays, ""),
		orphans(historyProduct, lessProducts, slices.Concat(unlike, strays), note),
	} {
		if len(e.spans) > 0 {
			query := askWithin(e.question, e.key, e.spans...)
			tasks = append(tasks, a.answerTask(query, 0, e.check))
			a.notes[e.check] = e.note
		}
	}
	before := int64(0)
	if !a.options.Whole {
		before = a.options.Run.Before[Sales]
	}
	if moduloPrime(a.answers[salesNow]-before) != sold {
		tasks = append(tasks, a.answerTask(question{}.ask("unsound sales"), 0, unsoundSales))
	}
	return tasks
}

package audit

import (
	"context"
	"database/sql"
	"fmt"
	"math"

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

func (a *audit) partTask(p *part, s span, bytes int64) task {
	return task{
		"read orders and orderlines", bytes,
		func(ctx context.Context, conn *sql.Conn) error { return a.readPart(ctx, conn, p, s) },
	}
}

// readPart reads orders and lines of a part, and asks at once what concerns them alone.
func (a *audit) readPart(ctx context.Context, conn *sql.Conn, p *part, s span) error {
	computed := max(a.baseOrders, a.since)
	var run span
	if r := a.options.Run; r != nil {
		run = span{r.Before[LastOrder], r.After[LastOrder]}
	}
	q := a.question()
	q.Computed = computed
	q.New = s.to > computed
	q.Run = bounds{run.from, run.to}
	q.Where = where("orderid", s)
	q.WhereOrders = where("o.orderid", s)
	q.WhereLines = where("l.orderid", s)
	var orders, strangers, tax, total, ofRun, cents, withLines, orderless, wrong, net int64
	var strays, sold int64
	var lines tally
	err := conn.QueryRowContext(ctx, q.ask("pass over orders")).
		Scan(&orders, &strangers, &tax, &total, &ofRun, &cents)
	if err != nil {
		return err
	}
	err = conn.QueryRowContext(ctx, q.ask("pass over lines")).
		Scan(&withLines, &orderless, &wrong, &strays, &lines.rows, &net, &lines.print, &sold)
	if err != nil {
		return err
	}
	p.strays += strays
	p.lines = p.lines.plus(lines)
	p.sold = moduloPrime(p.sold + sold)
	var orphaned int64
	if strangers > 0 { // most are new customers
		q.Where = where("c.orderid", s)
		err = store.EachRow(ctx, conn, math.MaxInt64, q.ask("strangers"),
			func(rows *sql.Rows) error {
				var order int64
				err := rows.Scan(&order)
				orphaned++
				a.nameKey(orderCustomer.name(), order)
				return err
			})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, n := range map[string]int64{
		withoutLines:         orders - withLines,
		misnumbered:          wrong,
		lineOrder.name():     orderless,
		wrongNet:             net,
		runOrders:            ofRun,
		runTotals:            cents,
		wrongTax:             tax,
		wrongTotal:           total,
		orderCustomer.name(): orphaned,
	} {
		a.answers[name] += n
	}
	return err
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
				return store.EachRow(ctx, conn, math.MaxInt64, query, a.addHistory)
			}},
		)
	}
	return tasks, nil
}

func (a *audit) addHistory(rows *sql.Rows) error {
	var i, n, print int64
	err := rows.Scan(&i, &n, &print)
	a.mu.Lock()
	defer a.mu.Unlock()
	p := &a.parts[min(max(i, 0), int64(len(a.parts)-1))]
	p.history = tally{p.history.rows + n, moduloPrime(p.history.print + print)}
	return err
}

// atMostParts is of how many parts with faults the exact questions are asked: each question reads
// CUST_HIST again.
const atMostParts = 16

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
		note = fmt.Sprintf(
			" in %d of the %d parts of %d orders that have faults",
			atMostParts,
			found,
			a.partOrders,
		)
	}
	ask := func(spans []span, note, name string, within func(...span) string) {
		if len(spans) > 0 {
			tasks = append(tasks, a.answerTask(within(spans...), 0, name))
			a.notes[name] = note
		}
	}
	orphans := func(spans []span, note string, k foreignKey) {
		ask(spans, note, k.name(), k.within)
	}
	ask(unlike, note, disagreeing, disagreeingWithin)
	ask(unlike, note, anothersOrder, anothersOrderWithin)
	orphans(unlike, note, historyOrder)
	// The dataset's customers and products are all there, so that of their numbers there is nothing
	// to ask; or they are not.
	if a.answers[datasetCustomers] != int64(a.size.Customers) {
		orphans(all, "", orderCustomer)
		orphans(all, "", historyCustomer)
	} else {
		orphans(unlike, note, historyCustomer)
	}
	if a.answers[datasetProducts] != int64(a.size.Products) {
		orphans(all, "", lineProduct)
		orphans(all, "", historyProduct)
	} else {
		orphans(strays, "", lineProduct)
		orphans(append(unlike, strays...), note, historyProduct)
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

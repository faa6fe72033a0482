package audit

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"ds2/datagen"
	"ds2/internal/store"
)

// RowHasher is an engine whose server hashes rows as this process can. The rows of the dataset are
// then made again here while the server reads its own, and each side sends or keeps a number for
// many rows.
type RowHasher interface {
	// RowHash gives, as SQL, a hash of columns of a row t, integers and texts, and the hash of such
	// a row of the dataset; nil where the server hashes in another way.
	RowHash(
		ctx context.Context, columns []string, texts func(column string) bool,
	) (expression string, hash func([]datagen.Value) int64, err error)
}

// dataset are the rows of the dataset beside those that the database has of it.
type dataset struct {
	rows   *datagen.Dataset
	tables []*comparison
	// of CUST_HIST, and of what was sold by ORDERLINES, by ranges of orders
	history, sold *rangeSum

	stock, sales []int64 // of INVENTORY, by product
}

// rangeSum is a sum over rows of the dataset, by ranges of so many keys.
type rangeSum struct {
	table datagen.Table
	at    int // the place of the key in a row
	size  int64
	of    func(row []datagen.Value) int64 // a row's term in a print
	want  []tally                         // by range
	mu    sync.Mutex                      // of want
}

// comparison is that of a table, range by range of a key.
type comparison struct {
	rangeSum
	key   string
	term  string // SQL of a row's term in a print
	check string
	spans []span
	found []tally // what the database has, by range
}

// The names of the checks of what the dataset has.
const (
	otherStock    = "products whose stock is not the dataset's less sales, with reorders"
	otherOrders   = "orders of the dataset with other values"
	otherLines    = "orders of the dataset with other lines"
	otherCustomer = "customers of the dataset with other values"
	otherProduct  = "products of the dataset with other values"
)

var customerColumns = strings.Fields("customerid firstname lastname address1 address2 city " +
	"state zip country region email phone creditcardtype creditcard creditcardexpiration " +
	"username password age income gender")

// productColumns are those of PRODUCTS but the price, an amount.
var productColumns = []string{
	"prod_id", "category", "title", "actor", "special", "common_prod_id",
}

const productPrice = 4 // its place in a row

var numbers = strings.Fields("customerid region creditcardtype age income " +
	"prod_id category special common_prod_id")

// isText tells the texts of the dataset from its numbers: RowHash hashes the two differently.
func isText(column string) bool { return !slices.Contains(numbers, column) }

// checkNames are the names of the checks that compare with the dataset.
func (d *dataset) checkNames() []string {
	names := []string{otherStock}
	for _, c := range d.tables {
		names = append(names, c.check)
	}
	return names
}

// compareDataset prepares the comparison of the whole database with the dataset, where the server
// can be asked for it.
func (a *audit) compareDataset(ctx context.Context, info store.Info) error {
	if !a.options.Whole {
		return nil
	}
	const values = "values of the dataset's rows, beside their keys, sums and numbers"
	engine, ok := a.target.(RowHasher)
	if !ok || info == nil {
		a.options.Omit(values)
		return nil
	}
	_, seed, err := Loaded(info)
	if err != nil {
		return err
	}
	words := datagen.DefaultWords()
	d := &dataset{}
	if d.rows, err = datagen.New(a.size, words, datagen.Options{Seed: seed}); err != nil {
		return err
	}
	term, hash, err := engine.RowHash(ctx, customerColumns, isText)
	if err != nil {
		return err
	}
	if hash == nil {
		a.options.Omit(values)
		return nil
	}
	d.addComparison(datagen.Customers, "customerid", 0, otherCustomer, term, hash, a.size.Customers)
	if sum := info[InfoWords]; sum == "" || sum == words.Sum() {
		if term, hash, err = engine.RowHash(ctx, productColumns, isText); err != nil {
			return err
		}
		of := productTerm(hash)
		d.addComparison(datagen.Products, "prod_id", 0, otherProduct, term, of, a.size.Products)
	} else {
		a.options.Omit("values of products, whose words are not ds2's")
	}
	d.addComparison(datagen.Orders, "orderid", 0, otherOrders, "", orderTerm, 0)
	d.addComparison(datagen.OrderLines, "orderid", 1, otherLines, "", lineTerm, 0)
	a.options.Omit("values of what runs added, beside those of the checks; REORDER's dates; room that indexes take")
	a.dataset = d
	return nil
}

// addComparison adds the comparison of a table by a key, which is at a place of its rows, divided
// into ranges of so many keys; 0: divideAs does that. A row's term in SQL is that of the same name
// in the questions, of a hash.
func (d *dataset) addComparison(
	table datagen.Table, key string, at int, check, hash string, of func([]datagen.Value) int64,
	keys int,
) {
	c := &comparison{
		rangeSum: rangeSum{table: table, at: at, of: of},
		key:      key,
		check:    check,
		term:     question{Hash: hash}.ask("term of " + string(table)),
	}
	var spans []span
	for from := 0; from < keys; from += maxPart {
		spans = append(spans, span{int64(from), int64(min(from+maxPart, keys))})
	}
	c.setRanges(maxPart, spans)
	d.tables = append(d.tables, c)
}

// setRanges has a comparison made by ranges of so many keys.
func (c *comparison) setRanges(size int64, spans []span) {
	c.size = size
	c.spans = spans
	c.found = make([]tally, len(spans))
	c.want = make([]tally, len(spans))
}

// The terms of rows, as the SQL of the same names has them.

func productTerm(hash func([]datagen.Value) int64) func([]datagen.Value) int64 {
	return func(row []datagen.Value) int64 {
		hashed := slices.Concat(row[:productPrice], row[productPrice+1:])
		return hash(hashed) + (row[0].Int*433494437+row[productPrice].Int*100*7654321)%prime
	}
}

func orderTerm(row []datagen.Value) int64 {
	const modulus = 1000003
	amounts := row[3].Int*100%modulus*479001 + row[4].Int*100%modulus*1234567 +
		row[5].Int*100%modulus*123457
	return (row[0].Int*433494437 + row[2].Int*370248451 + row[1].Int*7654321) % modulus *
		(amounts % modulus)
}

func lineTerm(row []datagen.Value) int64 {
	return (row[1].Int*433494437 + row[2].Int*479001599 + row[4].Int*7654321) % 1000003 *
		(row[0].Int*1009 + row[3].Int*32003)
}

// historyTerm is that of a row of CUST_HIST.
func historyTerm(row []datagen.Value) int64 {
	customer := row[0].Int
	order := row[1].Int
	product := row[2].Int
	return (order*433494437 + product*479001599 + customer*370248451) % prime *
		(product + customer) % prime
}

// soldTerm is what a line sold of its product.
func soldTerm(row []datagen.Value) int64 { return row[3].Int * (row[2].Int * row[2].Int % prime) }

// byOrders are the comparisons of ORDERS and ORDERLINES.
func (d *dataset) byOrders() []*comparison { return d.tables[len(d.tables)-2:] }

// divideAs divides the comparisons by orders as the parts are. What runs added to the last of these
// parts is not theirs.
func (d *dataset) divideAs(a *audit) {
	var spans []span
	for i, p := range a.parts {
		if int64(i)*a.partOrders >= a.baseOrders {
			break
		}
		if min(int64(i+1)*a.partOrders, a.lastOrder) > a.baseOrders {
			p.to = a.baseOrders
		}
		spans = append(spans, p.span)
	}
	for _, c := range d.byOrders() {
		c.setRanges(a.partOrders, spans)
	}
	ofOrders := func(table datagen.Table, of func([]datagen.Value) int64) *rangeSum {
		want := make([]tally, len(spans))
		return &rangeSum{table: table, at: 1, size: a.partOrders, of: of, want: want}
	}
	d.history = ofOrders(datagen.CustHist, historyTerm)
	d.sold = ofOrders(datagen.OrderLines, soldTerm)
	d.stock = make([]int64, a.size.Products+1)
	d.sales = make([]int64, a.size.Products+1)
}

// addedSpan is what of a part is no range of the dataset's; false: nothing.
func (a *audit) addedSpan(i int) (s span, some bool) {
	s = a.parts[i].span
	if a.dataset != nil && i < len(a.dataset.history.want) {
		s.from = a.dataset.byOrders()[0].spans[i].to
	}
	return s, s.from < s.to
}

// rangeTasks read what the database has of the dataset.
func (d *dataset) rangeTasks(tables map[string]int64) (tasks []task) {
	for _, c := range d.tables {
		bytes := tables[string(c.table)] / max(int64(len(c.spans)), 1)
		for i, s := range c.spans {
			read := func(ctx context.Context, conn *sql.Conn) error {
				found := &c.found[i]
				err := conn.QueryRowContext(ctx, c.question(s).ask("dataset rows")).
					Scan(&found.rows, &found.print)
				found.print = moduloPrime(found.print)
				return err
			}
			tasks = append(tasks, task{"read " + string(c.table), bytes, read})
		}
	}
	return tasks
}

// question is one about the rows of a span of keys.
func (c *comparison) question(s span) question {
	return question{
		Table: c.table, Column: c.key, Term: c.term, Where: columnWithin("t."+c.key, s),
	}
}

// makeRows makes the rows of the dataset, for what the ranges want.
func (d *dataset) makeRows(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, part := range d.rows.Parts() {
		group.Go(func() error {
			if part.Table == datagen.Inventory {
				rows := part.Open()
				for row := rows(); row != nil; row = rows() {
					d.stock[row[0].Int] = row[1].Int
					d.sales[row[0].Int] = row[2].Int
				}
			}
			sums := []*rangeSum{d.history, d.sold}
			for _, c := range d.tables {
				sums = append(sums, &c.rangeSum)
			}
			for _, s := range sums {
				if s.table == part.Table && ctx.Err() == nil {
					s.addRows(part)
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// addTally adds the rows of two ranges; prints add up modulo prime.
func (t tally) addTally(other tally) tally {
	return tally{t.rows + other.rows, moduloPrime(t.print + other.print)}
}

// addRows adds the rows of a part.
func (s *rangeSum) addRows(part datagen.Part) {
	sums := make([]tally, len(s.want))
	rows := part.Open()
	for row := rows(); row != nil; row = rows() {
		sum := &sums[(row[s.at].Int-1)/s.size]
		sum.rows++
		sum.print = (sum.print + s.of(row)) % prime
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, sum := range sums {
		s.want[i] = s.want[i].addTally(sum)
	}
}

// settleRanges takes what the passes found of the dataset: of parts that are the dataset's rows
// nothing else is to be asked, and of others what is wrong with them.
func (a *audit) settleRanges() (tasks []task) {
	d := a.dataset
	wrong := map[int]bool{} // parts
	for _, c := range d.tables {
		var differ []span
		for i, found := range c.found {
			if c.table == datagen.Customers {
				a.answers[datasetCustomers] += found.rows
			}
			if found != c.want[i] {
				differ = append(differ, c.spans[i])
				wrong[i] = wrong[i] || slices.Contains(d.byOrders(), c)
			}
		}
		if found := len(differ); found > atMostParts {
			differ = differ[:atMostParts]
			a.notes[c.check] = fmt.Sprintf(
				" in %d of the %d ranges of %d keys that have faults", atMostParts, found, c.size)
		}
		for _, s := range differ {
			name := func(ctx context.Context, conn *sql.Conn) error {
				return a.nameRows(ctx, conn, c, s)
			}
			tasks = append(tasks, task{"compare " + string(c.table), 0, name})
		}
	}
	for i, bought := range d.history.want {
		p := &a.parts[i]
		if wrong[i] {
			tasks = append(tasks, a.partTask(p, d.byOrders()[0].spans[i], 0))
			continue
		}
		p.lines = p.lines.addTally(bought)
		p.sold = moduloPrime(p.sold + d.sold.want[i].print)
	}
	return append(tasks, task{"read the stock", 0, a.compareStock})
}

// nameRows counts and names the keys of a range of which the database does not have the dataset's
// rows.
func (a *audit) nameRows(ctx context.Context, conn *sql.Conn, c *comparison, s span) error {
	want := map[int64]tally{}
	for _, part := range a.dataset.rows.Parts() {
		if part.Table != c.table {
			continue
		}
		rows := part.Open()
		for row := rows(); row != nil && row[c.at].Int <= s.to; row = rows() {
			if key := row[c.at].Int; key > s.from {
				want[key] = want[key].addTally(tally{1, c.of(row)})
			}
		}
	}
	type held struct{ Key, Rows, Print int64 }
	err := store.Each(ctx, conn, math.MaxInt64, c.question(s).ask("dataset rows by key"),
		func(row held) error {
			if want[row.Key] != (tally{row.Rows, moduloPrime(row.Print)}) {
				a.noteFault(c.check, row.Key)
			}
			delete(want, row.Key)
			return nil
		})
	for key := range want {
		a.noteFault(c.check, key)
	}
	return err
}

// compareStock compares the stock of each product with what the dataset, sales and reorders leave.
func (a *audit) compareStock(ctx context.Context, conn *sql.Conn) error {
	d := a.dataset
	type held struct{ Product, Stock, Sales, Filled int64 }
	return store.Each(ctx, conn, math.MaxInt64, question{}.ask("stock"), func(row held) error {
		if row.Product < 1 || row.Product >= int64(len(d.stock)) {
			return nil // a check of keys says so
		}
		left := d.stock[row.Product] - (row.Sales - d.sales[row.Product])
		if row.Stock != left+row.Filled {
			a.noteFault(otherStock, row.Product)
		}
		return nil
	})
}

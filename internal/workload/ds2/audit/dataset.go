package audit

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"runtime"
	"slices"
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
	rows    *datagen.Dataset
	tables  []*comparison
	history []tally // of CUST_HIST, by part of orders
	sold    []int64 // print, by part of orders

	stock, sales []int64 // of INVENTORY, by product

	mu sync.Mutex // of what the ranges want
}

// comparison is that of a table, range by range of a key.
type comparison struct {
	table  datagen.Table
	key    string
	at     int    // the place of the key in a row of the dataset
	term   string // SQL of a row's term in a print
	of     func(row []datagen.Value) int64
	check  string
	size   int64 // keys of a range
	ranges []keyRange
}

// keyRange are the rows of some keys: what the database has, and the dataset.
type keyRange struct {
	span
	found, want tally
}

// The names of the checks of what the dataset has.
const (
	otherStock    = "products whose stock is not the dataset's less sales, with reorders"
	otherOrders   = "orders of the dataset with other values"
	otherLines    = "orders of the dataset with other lines"
	otherCustomer = "customers of the dataset with other values"
	otherProduct  = "products of the dataset with other values"
)

var customerColumns = []string{
	"customerid", "firstname", "lastname", "address1", "address2", "city", "state", "zip",
	"country", "region", "email", "phone", "creditcardtype", "creditcard", "creditcardexpiration",
	"username", "password", "age", "income", "gender",
}

// productColumns are those of PRODUCTS but the price, an amount.
var productColumns = []string{
	"prod_id", "category", "title", "actor", "special", "common_prod_id",
}

const productPrice = 4 // its place in a row

var numbers = []string{
	"customerid", "region", "creditcardtype", "age", "income",
	"prod_id", "category", "special", "common_prod_id",
}

func isText(column string) bool { return !slices.Contains(numbers, column) }

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
	engine, ok := a.target.(RowHasher)
	if !a.options.Whole {
		return nil
	}
	if !ok || info == nil {
		a.omitCheck("values of the dataset's rows, beside their keys, sums and numbers")
		return nil
	}
	_, seed, err := Loaded(info)
	if err != nil {
		return err
	}
	words := datagen.DefaultWords()
	rows, err := datagen.New(a.size, words, datagen.Options{Seed: seed})
	if err != nil {
		return err
	}
	term, hash, err := engine.RowHash(ctx, customerColumns, isText)
	if err != nil {
		return err
	}
	if hash == nil {
		a.omitCheck("values of the dataset's rows, beside their keys, sums and numbers")
		return nil
	}

	d := &dataset{rows: rows}
	d.addComparison(&comparison{
		table: datagen.Customers, key: "customerid", check: otherCustomer, size: maxPart,
		term: term, of: hash,
	}, int64(a.size.Customers))
	if sum := info[InfoWords]; sum == "" || sum == words.Sum() {
		if term, hash, err = engine.RowHash(ctx, productColumns, isText); err != nil {
			return err
		}
		d.addComparison(&comparison{
			table: datagen.Products, key: "prod_id", check: otherProduct, size: maxPart,
			term: term, of: productTerm(hash),
		}, int64(a.size.Products))
	} else {
		a.omitCheck("values of products, whose words are not ds2's")
	}
	d.addComparison(&comparison{
		table: datagen.Orders, key: "orderid", check: otherOrders, of: orderTerm,
	}, 0)
	d.addComparison(&comparison{
		table: datagen.OrderLines, key: "orderid", at: 1, check: otherLines, of: lineTerm,
	}, 0)
	a.omitCheck(
		"values of what runs added, beside those of the checks; REORDER's dates; room that " +
			"indexes take",
	)
	a.dataset = d
	return nil
}

// omitCheck says what is not looked at.
func (a *audit) omitCheck(what string) {
	if a.options.Omit != nil {
		a.options.Omit(what)
	}
}

// addComparison adds the comparison of a table with so many keys.
func (d *dataset) addComparison(c *comparison, keys int64) {
	c.term = question{Hash: c.term}.ask("term of " + string(c.table))
	for from := int64(0); from < keys; from += c.size {
		c.ranges = append(c.ranges, keyRange{span: span{from, min(from+c.size, keys)}})
	}
	d.tables = append(d.tables, c)
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
func historyTerm(customer, order, product int64) int64 {
	return (order*433494437 + product*479001599 + customer*370248451) % prime *
		(product + customer) % prime
}

// byOrders are the comparisons of ORDERS and ORDERLINES.
func (d *dataset) byOrders() []*comparison { return d.tables[len(d.tables)-2:] }

// divideAs divides the comparisons by orders as the parts are. What runs added to the last of these
// parts is not theirs.
func (d *dataset) divideAs(a *audit) {
	for _, c := range d.byOrders() {
		c.size = a.partOrders
		for i, p := range a.parts {
			if int64(i)*a.partOrders >= a.baseOrders {
				break
			}
			if min(int64(i+1)*a.partOrders, a.lastOrder) > a.baseOrders {
				p.to = a.baseOrders
			}
			c.ranges = append(c.ranges, keyRange{span: p.span})
		}
	}
	d.history = make([]tally, len(d.byOrders()[0].ranges))
	d.sold = make([]int64, len(d.history))
	d.stock = make([]int64, a.size.Products+1)
	d.sales = make([]int64, a.size.Products+1)
}

// addedSpan is what of a part is no range of the dataset's; false: nothing.
func (a *audit) addedSpan(i int) (s span, some bool) {
	s = a.parts[i].span
	if a.dataset != nil && i < len(a.dataset.history) {
		s.from = a.dataset.byOrders()[0].ranges[i].to
		some = s.from < s.to
		return s, some
	}
	return s, true
}

// rangeTasks read what the database has of the dataset.
func (d *dataset) rangeTasks(tables map[string]int64) (tasks []task) {
	for _, c := range d.tables {
		for i := range c.ranges {
			r := &c.ranges[i]
			q := c.question(r.span)
			bytes := tables[string(c.table)] / int64(len(c.ranges))
			tasks = append(tasks, task{
				"read " + string(c.table), bytes,
				func(ctx context.Context, conn *sql.Conn) error {
					err := conn.QueryRowContext(ctx, q.ask("dataset rows")).
						Scan(&r.found.rows, &r.found.print)
					r.found.print = moduloPrime(r.found.print)
					return err
				},
			})
		}
	}
	return tasks
}

func (c *comparison) question(s span) question {
	return question{
		Table: c.table, Column: c.key, Term: c.term, Where: where("t."+c.key, s),
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
			for _, s := range d.sums() {
				if s.table != part.Table {
					continue
				}
				if err := s.read(ctx, part, &d.mu); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// rangeSum is a sum over rows of the dataset, by ranges of so many keys.
type rangeSum struct {
	table datagen.Table
	size  int64
	at    int // the place of the key in a row
	of    func(row []datagen.Value) int64
	give  func(i int64, sum tally)
}

// sums are those that the ranges want.
func (d *dataset) sums() (all []rangeSum) {
	for _, c := range d.tables {
		all = append(all, rangeSum{c.table, c.size, c.at, c.of, func(i int64, sum tally) {
			c.ranges[i].want = c.ranges[i].want.plus(sum)
		}})
	}
	size := d.byOrders()[0].size
	bought := func(row []datagen.Value) int64 {
		return historyTerm(row[0].Int, row[1].Int, row[2].Int)
	}
	sold := func(row []datagen.Value) int64 {
		return row[3].Int * (row[2].Int * row[2].Int % prime)
	}
	return append(all,
		rangeSum{datagen.CustHist, size, 1, bought, func(i int64, sum tally) {
			d.history[i] = d.history[i].plus(sum)
		}},
		rangeSum{datagen.OrderLines, size, 1, sold, func(i int64, sum tally) {
			d.sold[i] = moduloPrime(d.sold[i] + sum.print)
		}},
	)
}

func (t tally) plus(other tally) tally {
	return tally{t.rows + other.rows, moduloPrime(t.print + other.print)}
}

// read gives the sum of each range that a part has rows of, one at a time.
func (s rangeSum) read(ctx context.Context, part datagen.Part, one *sync.Mutex) error {
	rows := part.Open()
	current := int64(-1)
	var sum tally
	give := func() {
		one.Lock()
		defer one.Unlock()
		if current >= 0 {
			s.give(current, sum)
		}
	}
	for row := rows(); row != nil; row = rows() {
		if i := (row[s.at].Int - 1) / s.size; i != current {
			give()
			if err := ctx.Err(); err != nil {
				return err
			}
			current = i
			sum = tally{}
		}
		sum.rows++
		sum.print = (sum.print + s.of(row)) % prime
	}
	give()
	return nil
}

// settleRanges takes what the passes found of the dataset: of parts that are the dataset's rows
// nothing else is to be asked, and of others what is wrong with them.
func (a *audit) settleRanges() (tasks []task) {
	d := a.dataset
	wrong := map[int]bool{} // parts
	for _, c := range d.tables {
		var differ []keyRange
		for i, r := range c.ranges {
			if c.table == datagen.Customers {
				a.answers[datasetCustomers] += r.found.rows
			}
			if r.found != r.want {
				differ = append(differ, r)
				if slices.Contains(d.byOrders(), c) {
					wrong[i] = true
				}
			}
		}
		if found := len(differ); found > atMostParts {
			differ = differ[:atMostParts]
			a.notes[c.check] = fmt.Sprintf(
				" in %d of the %d ranges of %d keys that have faults", atMostParts, found, c.size)
		}
		for _, r := range differ {
			tasks = append(tasks, task{
				"compare " + string(c.table), 0,
				func(ctx context.Context, conn *sql.Conn) error {
					return a.nameRows(ctx, conn, c, r)
				},
			})
		}
	}
	for i := range d.history {
		p := &a.parts[i]
		if wrong[i] {
			tasks = append(tasks, a.partTask(p, d.byOrders()[0].ranges[i].span, 0))
			continue
		}
		p.lines = p.lines.plus(d.history[i])
		p.sold = moduloPrime(p.sold + d.sold[i])
	}
	return append(tasks, task{"read the stock", 0, a.compareStock})
}

// nameRows counts and names the keys of a range of which the database does not have the dataset's
// rows.
func (a *audit) nameRows(
	ctx context.Context,
	conn *sql.Conn,
	c *comparison,
	r keyRange,
) error {
	want := map[int64]tally{}
	for _, part := range a.dataset.rows.Parts() {
		if part.Table != c.table {
			continue
		}
		rows := part.Open()
		for row := rows(); row != nil && row[c.at].Int <= r.to; row = rows() {
			if key := row[c.at].Int; key > r.from {
				want[key] = want[key].plus(tally{1, c.of(row)})
			}
		}
	}
	differ := func(key int64) {
		a.nameKey(c.check, key)
		a.countFault(c.check, 1)
	}
	err := store.EachRow(
		ctx,
		conn,
		math.MaxInt64,
		c.question(r.span).ask("dataset rows by key"),
		func(rows *sql.Rows) error {
			var key int64
			var found tally
			if err := rows.Scan(&key, &found.rows, &found.print); err != nil {
				return err
			}
			found.print = moduloPrime(found.print)
			if want[key] != found {
				differ(key)
			}
			delete(want, key)
			return nil
		},
	)
	for key := range want {
		differ(key)
	}
	return err
}

// countFault adds to the answer of a check.
func (a *audit) countFault(check string, n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[check] += n
}

// compareStock compares the stock of each product with what the dataset, sales and reorders leave.
func (a *audit) compareStock(ctx context.Context, conn *sql.Conn) error {
	d := a.dataset
	return store.EachRow(ctx, conn, math.MaxInt64, question{}.ask("stock"),
		func(rows *sql.Rows) error {
			var product, stock, sales, filled int64
			if err := rows.Scan(&product, &stock, &sales, &filled); err != nil {
				return err
			}
			if product < 1 || product >= int64(len(d.stock)) {
				return nil // a check of keys says so
			}
			if stock != d.stock[product]-(sales-d.sales[product])+filled {
				a.nameKey(otherStock, product)
				a.countFault(otherStock, 1)
			}
			return nil
		})
}

package ds2

import (
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/internal/workload/ds2/loaded"
)

// Adopted is the dataset of a database that DVD Store's own scripts made, as Examine found it.
type Adopted struct {
	Dataset
	Lists     *datagen.Words // what its titles and actors are made of
	OtherRows bool           // than DVD Store's programs write on Linux, so that a reset cannot make them

	Orders, Customers int64 // that runs have added; both 0: it is as it was loaded
}

// Info notes besides where the database comes from, and the words.
func (a Adopted) Info() store.Info {
	info := a.Dataset.Info()
	info[loaded.Adopted] = loaded.SameRows
	if a.OtherRows {
		info[loaded.Adopted] = loaded.OtherRows
	}
	if a.Words != datagen.DefaultWords().Sum() {
		info[loaded.WordLists] = a.Lists.String()
	}
	return info
}

// columns are those that each table of DVD Store must have: WORKLOAD.md section 1.
var columns = map[string][]string{
	"customers": {
		"customerid", "firstname", "lastname", "address1", "address2", "city", "state", "zip", "country", "region",
		"email", "phone", "creditcardtype", "creditcard", "creditcardexpiration", "username", "password", "age",
		"income", "gender",
	},
	"orders":     {"orderid", "orderdate", "customerid", "netamount", "tax", "totalamount"},
	"orderlines": {"orderlineid", "orderid", "prod_id", "quantity", "orderdate"},
	"cust_hist":  {"customerid", "orderid", "prod_id"},
	"products":   {"prod_id", "category", "title", "actor", "price", "special", "common_prod_id"},
	"inventory":  {"prod_id", "quan_in_stock", "sales"},
	"categories": {"category", "categoryname"},
	"reorder":    {"prod_id", "date_low", "quan_low", "date_reordered", "quan_reordered", "date_expected"},
}

// Examine looks whether a database is one that DVD Store's own scripts made, and finds its size by its rows: by the
// last customer that is called user and number, and by the last order of 2009 (WORKLOAD.md section 3): orders of runs
// have later dates. It reads a few rows of each table by their keys, and the products; it changes nothing. Words are
// those to try first.
func Examine(ctx context.Context, target store.Database, words *datagen.Words) (a Adopted, err error) {
	e := examination{ctx, target}
	if err := e.tables(); err != nil {
		return a, err
	}
	var customers, orders, products, allProducts, inventory, categories int64
	err = e.one(`SELECT (SELECT COALESCE(MAX(customerid), 0) FROM customers),
		(SELECT COALESCE(MAX(orderid), 0) FROM orders), (SELECT COALESCE(MAX(prod_id), 0) FROM products),
		(SELECT COUNT(*) FROM products), (SELECT COUNT(*) FROM inventory), (SELECT COUNT(*) FROM categories)`,
		&customers, &orders, &products, &allProducts, &inventory, &categories)
	if err != nil {
		return a, err
	}
	lastCustomer, err := e.last(customers, "customers WHERE customerid = %[1]d AND username = 'user%[1]d'")
	if err != nil {
		return a, err
	}
	const of2009 = "orders WHERE orderid = %d AND orderdate >= '2009-01-01' AND orderdate < '2010-01-01'"
	lastOrder, err := e.last(orders, of2009)
	if err != nil {
		return a, err
	}
	switch {
	case lastCustomer == 0 || lastOrder == 0 || products == 0:
		return a, e.refuse("its tables hold no data of DVD Store: "+
			"the last customer loaded is %d, the last order %d, the last product %d", lastCustomer, lastOrder, products)
	case lastOrder%datagen.Months != 0:
		return a, e.refuse("it has %d orders of 2009: DVD Store loads as many in each of 12 months", lastOrder)
	case allProducts != products || inventory != products || categories != 16:
		return a, e.refuse("it has %d products up to number %d, %d rows in inventory and %d categories: "+
			"its load is not complete", allProducts, products, inventory, categories)
	}
	perMonth := int(lastOrder / datagen.Months)
	size := datagen.Size{Customers: int(lastCustomer), OrdersPerMonth: perMonth, Products: int(products)}
	a.Orders, a.Customers = orders-lastOrder, customers-lastCustomer
	data, err := datagen.New(size, words, datagen.Options{})
	if err != nil {
		return a, e.refuse("its size is not one of DVD Store: %w", err)
	}
	const customer = "SELECT CAST(customerid AS varchar(12)), firstname, lastname FROM customers WHERE customerid = "
	for file, query := range map[string]string{
		"us_cust.csv":  customer + "1",
		"row_cust.csv": customer + fmt.Sprint(size.Customers/2+1),
		"jan_orderlines.csv": "SELECT CAST(orderlineid AS varchar(12)), CAST(orderid AS varchar(12))," +
			" CAST(prod_id AS varchar(12)) FROM orderlines WHERE orderid = 1 AND orderlineid = 1",
	} {
		var found [3]string
		if err := e.one(query, &found[0], &found[1], &found[2]); err != nil {
			return a, err
		}
		want, err := firstRow(data, file)
		if err != nil {
			return a, e.refuse("its size is not one of DVD Store: %w", err)
		}
		a.OtherRows = a.OtherRows || !slices.Equal(found[:], want[:3])
	}
	if a.Lists, err = e.words(data, words); err != nil {
		return a, err
	}
	a.Dataset = Dataset{Size: size, Words: a.Lists.Sum()}
	return a, nil
}

// examination asks a database.
type examination struct {
	ctx    context.Context
	target store.Database
}

func (e examination) refuse(format string, args ...any) error {
	const hint = "name a database that DVD Store's own scripts made and loaded"
	return store.Refuse("look at "+e.target.Label(), hint, format, args...)
}

// one reads the one row of a query; sql.ErrNoRows where it has none.
func (e examination) one(query string, dest ...any) error {
	err := e.target.DB().QueryRowContext(e.ctx, query).Scan(dest...)
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return e.target.Wrap("look at "+e.target.Label(), err)
}

func (e examination) tables() error {
	found, err := store.TableColumns(e.ctx, e.target.DB(), "", maps.Keys(columns))
	if err != nil {
		return e.target.Wrap("list the tables of "+e.target.Label(), err)
	}
	var missing []string
	for table, want := range columns {
		if len(found[table]) == 0 {
			missing = append(missing, "table "+table)
			continue
		}
		for _, column := range want {
			if !slices.Contains(found[table], column) {
				missing = append(missing, "column "+column+" of table "+table)
			}
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return e.refuse("it is not one of DVD Store's: it lacks %s", strings.Join(missing, ", "))
	}
	return nil
}

// last is the highest key up to most whose row the load made, as a query for a key tells: rows of runs have the keys
// after it.
func (e examination) last(most int64, loaded string) (int64, error) {
	var failed error
	after := sort.Search(int(most), func(i int) bool {
		var n int64
		if failed == nil {
			failed = e.one(fmt.Sprintf("SELECT COUNT(*) FROM "+loaded, i+1), &n)
		}
		return n == 0
	})
	return int64(after), failed
}

// words finds what titles and actors are made of: the given words, where those make the first title; or else what the
// products show. Titles go through all second words in their order; a name that no actor has is filled up from the
// given words.
func (e examination) words(data *datagen.Dataset, given *datagen.Words) (*datagen.Words, error) {
	var title, actor string
	if err := e.one("SELECT title, actor FROM products WHERE prod_id = 1", &title, &actor); err != nil {
		return nil, err
	}
	want, err := firstRow(data, "prod.csv")
	if err != nil {
		return nil, err
	}
	if title == want[2] && actor == want[3] {
		return given, nil
	}
	_, titles, err := e.halves("SELECT title FROM products WHERE prod_id <= 1000 ORDER BY prod_id")
	if err != nil {
		return nil, err
	}
	first, last, err := e.halves("SELECT DISTINCT actor FROM products ORDER BY actor")
	if err != nil {
		return nil, err
	}
	lists := strings.Join(slices.Concat(
		[]string{"[titles]"}, filledUp(titles, given.Titles[:]),
		[]string{"[first]"}, filledUp(first, given.First[:]),
		[]string{"[last]"}, filledUp(last, given.Last[:])), "\n")
	read, err := datagen.ReadWords(strings.NewReader(lists))
	if err != nil {
		return nil, e.refuse("its titles and actors are not two words each, as DVD Store's are: %w; "+
			"give the file of its words by --words", err)
	}
	return read, nil
}

// halves are the first and the second words of what a query of the products gives.
func (e examination) halves(query string) (first, second []string, err error) {
	found, err := store.Collect(e.ctx, e.target.DB(), query, store.Itself[string])
	for _, text := range found {
		a, b, _ := strings.Cut(text, " ")
		first, second = append(first, a), append(second, b)
	}
	return first, second, e.target.Wrap("read the products of "+e.target.Label(), err)
}

// filledUp are the words, each once, and as many of others as make them as many as those are.
func filledUp(words, others []string) []string {
	var list []string
	for _, word := range slices.Concat(words, others) {
		if len(list) < len(others) && !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	return list
}

func firstRow(data *datagen.Dataset, name string) ([]string, error) {
	for _, file := range data.Files() {
		if file.Name == name {
			r, w := io.Pipe()
			defer r.Close() // ends the writing
			go func() {
				_, err := file.Parts[0].WriteTo(w)
				w.CloseWithError(err)
			}()
			return csv.NewReader(r).Read()
		}
	}
	return nil, fmt.Errorf("a dataset has no file %s", name)
}

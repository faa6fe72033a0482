package audit

import (
	"fmt"

	"ds2/internal/workload/ds2/calls"
	"ds2/internal/workload/ds2/counts"
)

// expectation is a number that the database should hold, under the name of its check.
type expectation struct {
	name string
	want bounds
}

// bounds are the lowest and the highest number that is right.
type bounds struct {
	from, to int64
	cents    bool // an amount of money in hundredths
}

var none = bounds{}

func exactly(n int64) bounds { return bounds{from: n, to: n} }

func (b bounds) holds(n int64) bool { return b.from <= n && n <= b.to }

func (b bounds) format(n int64) string {
	if b.cents {
		return calls.Cents(n).String()
	}
	return fmt.Sprint(n)
}

func (b bounds) String() string {
	if b.from == b.to {
		return b.format(b.from)
	}
	return b.format(b.from) + " to " + b.format(b.to)
}

// The names of the checks, foreign keys apart.
const (
	datasetCustomers = "customers of the dataset"
	datasetOrders    = "orders of the dataset"
	allProducts      = "products"
	inventoryRows    = "inventory rows"
	allCategories    = "categories"
	missedTitle      = "products that a search for a known title misses"
	missedActor      = "products that a search for a known actor misses"

	withoutLines   = "orders without lines"
	misnumbered    = "orders whose lines are not numbered from 1 on"
	disagreeing    = "products of an order that orderlines and cust_hist do not agree on"
	anothersOrder  = "cust_hist rows of another customer than their order's"
	unsoundSales   = "products whose sales are not the sum of their order lines"
	negativeStock  = "products with a negative stock"
	wrongNet       = "new orders whose net is not the sum of price × quantity"
	wrongTax       = "new orders whose tax is not 8.25 % of the net"
	wrongTotal     = "new orders whose total is not net + tax"
	runOrders      = "orders of the run: purchases less rollbacks"
	runTotals      = "sum of the totals of the run's orders"
	runCustomers   = "new customers of the run"
	changedDataset = "rows that the run updated in tables to which it only adds"
)

// categories is the number of rows of CATEGORIES (WORKLOAD.md section 1).
const categories = 16

// expectations are what the database should hold. Work in doubt may be there or not.
func (a *audit) expectations() []expectation {
	all := []expectation{
		{datasetCustomers, exactly(int64(a.size.Customers))},
		{datasetOrders, exactly(a.baseOrders)},
		{allProducts, exactly(int64(a.size.Products))},
		{inventoryRows, exactly(int64(a.size.Products))},
		{allCategories, exactly(categories)},
	}
	if a.searched {
		all = append(all, expectation{missedTitle, none}, expectation{missedActor, none})
	}
	for _, key := range foreignKeys {
		all = append(all, expectation{key.name(), none})
	}
	for _, name := range []string{
		withoutLines, misnumbered, disagreeing, anothersOrder, unsoundSales, negativeStock,
		wrongNet, wrongTax, wrongTotal,
	} {
		all = append(all, expectation{name, none})
	}
	run := a.options.Run
	if run == nil {
		return all
	}
	n := func(place int) int64 { return counts.Of(run.Counts, place) }
	bought, cents, registered := n(counts.Purchases)-n(counts.Rollbacks), n(counts.TotalCents), n(counts.NewCustomers)
	all = append(all,
		expectation{runOrders, bounds{from: bought, to: bought + n(counts.InDoubtPurchases)}},
		expectation{runTotals, bounds{from: cents, to: cents + n(counts.InDoubtTotalCents), cents: true}},
		expectation{runCustomers, bounds{from: registered, to: registered + n(counts.InDoubtCustomers)}},
	)
	if _, known := a.answers[changedDataset]; known {
		all = append(all, expectation{changedDataset, none})
	}
	return all
}

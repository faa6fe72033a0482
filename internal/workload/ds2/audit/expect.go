package audit

import (
	"fmt"
	"slices"
	"strings"

	"ds2/internal/workload/ds2/calls"
)

// expectation is a number that the database should hold, under the name of its check.
type expectation struct {
	name     string
	from, to int64 // the lowest and the highest that is right
}

// format writes a number, of totals as an amount of money.
func (e expectation) format(n int64) string {
	if e.name == runTotals {
		return calls.Cents(n).String()
	}
	return fmt.Sprint(n)
}

// String writes what is expected: a number, or from the lowest to the highest where work is in
// doubt.
func (e expectation) String() string {
	if e.from == e.to {
		return e.format(e.from)
	}
	return e.format(e.from) + " to " + e.format(e.to)
}

// The names of the checks, foreign keys apart.
const (
	datasetCustomers  = "customers of the dataset"
	datasetOrders     = "orders of the dataset"
	allProducts       = "products"
	inventoryRows     = "inventory rows"
	allCategories     = "categories"
	renamedCategories = "categories with another name than the dataset's"
	missedTitle       = "products that a search for a known title misses"
	missedActor       = "products that a search for a known actor misses"

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
	changedDataset = "rows updated or deleted in tables to which the run only adds"
)

// categoryNames are those of CATEGORIES, from category 1 on (WORKLOAD.md section 1).
var categoryNames = strings.Fields("Action Animation Children Classics Comedy " +
	"Documentary Drama Family Foreign Games Horror Music New Sci-Fi Sports Travel")

// listExpectations are what the database should hold. Work in doubt may be there or not.
func (a *audit) listExpectations() []expectation {
	var all []expectation
	exactly := func(n int64, names ...string) {
		for _, name := range names {
			all = append(all, expectation{name, n, n})
		}
	}
	exactly(int64(a.size.Customers), datasetCustomers)
	exactly(a.baseOrders, datasetOrders)
	exactly(int64(a.size.Products), allProducts, inventoryRows)
	exactly(int64(len(categoryNames)), allCategories)
	exactly(0, renamedCategories)
	if a.dataset != nil {
		exactly(0, a.dataset.checkNames()...)
	}
	if a.searched {
		exactly(0, missedTitle, missedActor)
	}
	for _, key := range slices.Concat(largeKeys, smallKeys) {
		exactly(0, key.name())
	}
	exactly(0, withoutLines, misnumbered, disagreeing, anothersOrder, unsoundSales, negativeStock)
	exactly(0, wrongNet, wrongTax, wrongTotal)
	run := a.options.Run
	if run == nil {
		return all
	}
	n := func(place int) int64 { return calls.Count(run.Counts, place) }
	about := func(name string, n, inDoubt int64) {
		all = append(all, expectation{name, n, n + inDoubt})
	}
	about(runOrders, n(calls.Purchases)-n(calls.Rollbacks), n(calls.InDoubtPurchases))
	about(runTotals, n(calls.TotalCents), n(calls.InDoubtTotalCents))
	about(runCustomers, n(calls.NewCustomers), n(calls.InDoubtCustomers))
	if _, known := a.answers[changedDataset]; known {
		exactly(0, changedDataset)
	}
	return all
}

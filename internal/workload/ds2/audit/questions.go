package audit

import (
	"fmt"
	"math"
	"strings"

	"ds2/datagen"
	"ds2/schema"
)

// span are the orders above from and up to to.
type span struct{ from, to int64 }

// Spans without a lower or an upper bound.
const (
	lowest  = math.MinInt64
	highest = math.MaxInt64
)

// columnWithin is the condition that a column's value lies in one of some spans.
func columnWithin(column string, spans ...span) string {
	var any []string
	for _, s := range spans {
		var both []string
		if s.from != lowest {
			both = append(both, fmt.Sprintf("%s > %d", column, s.from))
		}
		if s.to != highest {
			both = append(both, fmt.Sprintf("%s <= %d", column, s.to))
		}
		if both == nil {
			return "1 = 1"
		}
		any = append(any, strings.Join(both, " AND "))
	}
	return "(" + strings.Join(any, " OR ") + ")"
}

// foreignKey is one of those that the tables should keep, whether the schema has the server keep it
// or not.
type foreignKey struct{ Table, Column, Parent, ParentColumn string }

// The keys of the large tables, for which these are read in passes.
var (
	historyCustomer = foreignKey{"cust_hist", "customerid", "customers", "customerid"}
	historyOrder    = foreignKey{"cust_hist", "orderid", "orders", "orderid"}
	historyProduct  = foreignKey{"cust_hist", "prod_id", "products", "prod_id"}
	orderCustomer   = foreignKey{"orders", "customerid", "customers", "customerid"}
	lineOrder       = foreignKey{"orderlines", "orderid", "orders", "orderid"}
	lineProduct     = foreignKey{"orderlines", "prod_id", "products", "prod_id"}

	largeKeys = []foreignKey{
		historyCustomer,
		historyOrder,
		historyProduct,
		orderCustomer,
		lineOrder,
		lineProduct,
	}
)

// smallKeys are those of the small tables.
var smallKeys = []foreignKey{
	{"inventory", "prod_id", "products", "prod_id"},
	{"products", "category", "categories", "category"},
	{"products", "common_prod_id", "products", "prod_id"},
	{"reorder", "prod_id", "products", "prod_id"},
}

// name is that of the check of the key.
func (k foreignKey) name() string {
	return fmt.Sprintf("rows of %s whose %s is not in %s", k.Table, k.Column, k.Parent)
}

// question is what the questions depend on, each on some of it.
type question struct {
	Where, WhereOrders, WhereLines string // conditions

	Customers, Products int64 // of the dataset
	Computed            int64 // amounts of orders above it are computed, not drawn
	New                 bool  // there are such orders
	Run                 bounds
	First, PartOrders   int64 // the first order of the first part, and orders of a part
	Key                 foreignKey
	Column              string
	Categories          []string

	Table      datagen.Table
	Hash, Term string
}

type bounds struct{ From, To int64 }

// ask gives a question's SQL.
func (q question) ask(name string) string { return schema.Question("ds2", name, q) }

// orphans counts rows c without a parent, of those for which a condition holds.
func (k foreignKey) orphans(condition string) string {
	return question{Key: k, Where: condition}.ask("orphans")
}

// askWithin is a question about the rows c of orders in some spans.
func askWithin(name string, k foreignKey, spans ...span) string {
	return question{
		Key:         k,
		Where:       columnWithin("c.orderid", spans...),
		WhereOrders: columnWithin("o.orderid", spans...),
	}.ask(name)
}

// A print is a sum over rows, modulo prime, in which each row has a term that no other row is
// likely to have: tables that should hold the same rows are read once each, in any order and in
// parts, and nothing is sorted or joined, to learn whether they do. Where they do not, their prints
// differ but once in 2 * 10^9 times.
const prime = 2147483579

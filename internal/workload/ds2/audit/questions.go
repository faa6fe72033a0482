package audit

import (
	"fmt"
	"math"
	"strings"
)

// span are the orders above from and up to to.
type span struct{ from, to int64 }

// Spans without a lower or an upper bound.
const (
	lowest  = math.MinInt64
	highest = math.MaxInt64
)

// where is the condition that a column's value lies in one of some spans.
func where(column string, spans ...span) string {
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

// count is COUNT(*) for engines in which that is a number of 32 bits.
const count = "SELECT COALESCE(SUM(CAST(1 AS bigint)), 0) FROM "

// foreignKey is one of those that the tables should keep, whether the schema has the server keep it
// or not.
type foreignKey struct{ table, column, parent, parentColumn string }

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

func (k foreignKey) name() string {
	return fmt.Sprintf("rows of %s whose %s is not in %s", k.table, k.column, k.parent)
}

// query counts rows c without a parent, of those for which a condition holds.
func (k foreignKey) query(condition string) string {
	return fmt.Sprintf("%s%s c WHERE %s AND NOT EXISTS (SELECT 1 FROM %s p WHERE p.%s = c.%s)",
		count, k.table, condition, k.parent, k.parentColumn, k.column)
}

// within is query of the rows of some orders.
func (k foreignKey) within(spans ...span) string { return k.query(where("c.orderid", spans...)) }

// The exact questions about orders in some spans.

func disagreeingWithin(spans ...span) string {
	return fmt.Sprintf(
		"%s(SELECT orderid, prod_id FROM (SELECT orderid, prod_id, 1 AS n FROM orderlines WHERE %s"+
			" UNION ALL SELECT orderid, prod_id, -1 FROM cust_hist WHERE %[2]s) x"+
			" GROUP BY orderid, prod_id HAVING SUM(n) <> 0) y",
		count,
		where("orderid", spans...),
	)
}

func anothersOrderWithin(spans ...span) string {
	const join = "%scust_hist h JOIN orders o ON o.orderid = h.orderid AND %s WHERE %s AND h.customerid <> o.customerid"
	return fmt.Sprintf(join, count, where("o.orderid", spans...), where("h.orderid", spans...))
}

// strangersWithin counts orders whose customer neither the dataset has nor anyone since.
func strangersWithin(s span, customers int64) string {
	return fmt.Sprintf("%sorders c WHERE %s AND c.customerid NOT BETWEEN 1 AND %d AND NOT EXISTS"+
		" (SELECT 1 FROM customers p WHERE p.customerid = c.customerid AND p.customerid NOT BETWEEN 1 AND %[3]d)",
		count, where("c.orderid", s), customers)
}

// unsoundSalesOf is the one question that needs every order line, sorted by product.
const unsoundSalesOf = count + "inventory i LEFT JOIN" +
	" (SELECT prod_id, SUM(CAST(quantity AS bigint)) AS quantity FROM orderlines GROUP BY prod_id) l" +
	" ON l.prod_id = i.prod_id WHERE i.sales <> COALESCE(l.quantity, 0)"

// A print is a sum over rows, modulo prime, in which each row has a term that no other row is
// likely to have: tables that should hold the same rows are read once each, in any order and in
// parts, and nothing is sorted or joined, to learn whether they do. Where they do not, their prints
// differ but once in 2 * 10^9 times.
const prime = 2147483579

// historyPrint is the term of a purchased product: of table h the order and product, of table o the
// customer. Numbers of 32 bits do not make it overflow 64.
const historyPrint = "(%[1]s.orderid * CAST(433494437 AS bigint) + %[1]s.prod_id * CAST(479001599 AS bigint)" +
	" + %[2]s.customerid * CAST(370248451 AS bigint)) %% 2147483579" +
	" * (%[1]s.prod_id + CAST(%[2]s.customerid AS bigint)) %% 2147483579"

// productPrint is what a sold piece of a product counts for.
const productPrint = "%[1]s.prod_id * CAST(%[1]s.prod_id AS bigint) %% 2147483579"

// salesPrint is the print of all pieces sold, by INVENTORY.
var salesPrint = fmt.Sprintf(
	"COALESCE(SUM(i.sales * (%s) %% 2147483579), 0)",
	fmt.Sprintf(productPrint, "i"),
)

// The counts of small tables.
var (
	inventoryCounts = "SELECT COUNT(*), COALESCE(SUM(CASE WHEN i.quan_in_stock < 0 THEN 1 ELSE 0 END), 0), " +
		salesPrint + " FROM inventory i"
	productCounts = "SELECT COUNT(*), COALESCE(SUM(CASE WHEN prod_id BETWEEN 1 AND %d THEN 1 ELSE 0 END), 0)" +
		" FROM products"
)

// The passes, each over some orders or some of CUST_HIST's rows.

// ordersPass counts orders, those whose customer the dataset does not have, and those since
// computed with a wrong tax or a wrong total: the dataset's own amounts are drawn at random
// (WORKLOAD.md section 3). It gives number and total cents of the orders of a run.
func ordersPass(s span, customers, computed int64, run span) string {
	return fmt.Sprintf(`SELECT COALESCE(SUM(CAST(1 AS bigint)), 0),
	COALESCE(SUM(CASE WHEN customerid BETWEEN 1 AND %d THEN 0 ELSE 1 END), 0),
	COALESCE(SUM(CASE WHEN orderid > %[2]d
		AND ABS(CAST(tax AS decimal(19, 6)) - CAST(netamount AS decimal(19, 6)) * 0.0825) > 0.005
		THEN 1 ELSE 0 END), 0),
	COALESCE(SUM(CASE WHEN orderid > %[2]d AND totalamount <> netamount + tax THEN 1 ELSE 0 END), 0),
	COALESCE(SUM(CASE WHEN orderid > %[4]d AND orderid <= %[5]d THEN 1 ELSE 0 END), 0),
	COALESCE(SUM(CASE WHEN orderid > %[4]d AND orderid <= %[5]d THEN CAST(totalamount * 100 AS bigint) ELSE 0 END), 0)
FROM orders WHERE %[3]s`, customers, computed, where("orderid", s), run.from, run.to)
}

// linesPass counts orders with lines, lines without an order, orders with misnumbered lines, lines
// whose product the dataset does not have, lines with an order, and orders since computed with a
// wrong net; and gives the prints of the lines with an order as history and of all as sales.
func linesPass(s span, products, computed int64) string {
	amounts := "0 AS netamount, 0 AS net"
	prices := ""
	if s.to > computed {
		amounts = "MAX(o.netamount) AS netamount, SUM(p.price * l.quantity) AS net"
		prices = " LEFT JOIN products p ON p.prod_id = l.prod_id"
	}
	return fmt.Sprintf(
		`SELECT COALESCE(SUM(CASE WHEN parent IS NULL THEN 0 ELSE 1 END), 0),
	COALESCE(SUM(CASE WHEN parent IS NULL THEN CAST(n AS bigint) ELSE 0 END), 0),
	COALESCE(SUM(CASE WHEN lowest <> 1 OR highest <> n THEN 1 ELSE 0 END), 0),
	COALESCE(SUM(strays), 0),
	COALESCE(SUM(CASE WHEN parent IS NULL THEN 0 ELSE CAST(n AS bigint) END), 0),
	COALESCE(SUM(CASE WHEN orderid > %d AND netamount <> net THEN 1 ELSE 0 END), 0),
	COALESCE(SUM(history), 0),
	COALESCE(SUM(sold), 0)
FROM (SELECT l.orderid, MAX(o.orderid) AS parent, COUNT(*) AS n,
	MIN(l.orderlineid) AS lowest, MAX(l.orderlineid) AS highest,
	SUM(CASE WHEN l.prod_id BETWEEN 1 AND %d THEN 0 ELSE 1 END) AS strays,
	CAST(SUM(%s) AS bigint) AS history,
	CAST(SUM(l.quantity * (%s)) AS bigint) AS sold,
	%s
	FROM orderlines l LEFT JOIN orders o ON o.orderid = l.orderid AND %s%s WHERE %s GROUP BY l.orderid) x`,
		computed,
		products,
		fmt.Sprintf(historyPrint, "l", "o"),
		fmt.Sprintf(productPrint, "l"),
		amounts,
		where("o.orderid", s),
		prices,
		where("l.orderid", s),
	)
}

// historyPass gives number and print of rows of CUST_HIST, apart for each part of n orders above
// since.
func historyPass(condition string, since, orders int64) string {
	part := fmt.Sprintf("(h.orderid - %d) / %d", since+1, orders)
	return fmt.Sprintf(
		"SELECT %s AS part, SUM(CAST(1 AS bigint)), SUM(%s) FROM cust_hist h WHERE %s GROUP BY %[1]s",
		part,
		fmt.Sprintf(historyPrint, "h", "h"),
		condition,
	)
}

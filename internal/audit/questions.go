package audit

import (
	"context"
	"database/sql"
	"fmt"

	"ds2/datagen"
	"ds2/internal/store"
)

// question is a query for one whole number, and what the number should be.
type question struct {
	name  string
	query string
	want  bounds
}

func (q question) ask(ctx context.Context, db *sql.DB) (int64, error) {
	var n int64
	err := db.QueryRowContext(ctx, q.query).Scan(&n)
	return n, err
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
		return store.Cents(n).String()
	}
	return fmt.Sprint(n)
}

func (b bounds) String() string {
	if b.from == b.to {
		return b.format(b.from)
	}
	return b.format(b.from) + " to " + b.format(b.to)
}

// count is COUNT(*) for engines in which that is a number of 32 bits.
const count = "SELECT COALESCE(SUM(CAST(1 AS bigint)), 0) FROM "

// questionsFor lists what is asked of a database of a size, and of one that a run has been at.
func questionsFor(z datagen.Size, run *Run) []question {
	baseOrders := int64(z.OrdersPerMonth) * datagen.Months
	questions := []question{
		{"customers of the dataset", fmt.Sprint(count, "customers WHERE customerid <= ", z.Customers), exactly(int64(z.Customers))},
		{"orders of the dataset", fmt.Sprint(count, "orders WHERE orderid <= ", baseOrders), exactly(baseOrders)},
		{"products", count + "products", exactly(int64(z.Products))},
		{"inventory rows", count + "inventory", exactly(int64(z.Products))},
		{"categories", count + "categories", exactly(categories)},
	}
	for _, key := range foreignKeys {
		questions = append(questions, question{
			fmt.Sprintf("rows of %s whose %s is not in %s", key.table, key.column, key.parent),
			fmt.Sprintf("%s%s c WHERE NOT EXISTS (SELECT 1 FROM %s p WHERE p.%s = c.%s)", count, key.table, key.parent, key.parentColumn, key.column),
			none,
		})
	}
	questions = append(questions,
		question{"orders without lines",
			count + "orders o WHERE NOT EXISTS (SELECT 1 FROM orderlines l WHERE l.orderid = o.orderid)", none},
		question{"orders whose lines are not numbered from 1 on",
			count + "(SELECT orderid FROM orderlines GROUP BY orderid HAVING MIN(orderlineid) <> 1 OR MAX(orderlineid) <> COUNT(*)) x", none},
		question{"products of an order that orderlines and cust_hist do not agree on",
			count + "(SELECT orderid, prod_id FROM (SELECT orderid, prod_id, 1 AS n FROM orderlines" +
				" UNION ALL SELECT orderid, prod_id, -1 FROM cust_hist) x GROUP BY orderid, prod_id HAVING SUM(n) <> 0) y", none},
		question{"cust_hist rows of another customer than their order's",
			count + "cust_hist h JOIN orders o ON o.orderid = h.orderid WHERE h.customerid <> o.customerid", none},
		question{"products whose sales are not the sum of their order lines",
			count + "inventory i LEFT JOIN (SELECT prod_id, SUM(CAST(quantity AS bigint)) AS quantity FROM orderlines GROUP BY prod_id) l" +
				" ON l.prod_id = i.prod_id WHERE i.sales <> COALESCE(l.quantity, 0)", none},
		question{"products with a negative stock", count + "inventory WHERE quan_in_stock < 0", none},
	)
	// The dataset's own amounts are drawn at random (WORKLOAD.md section 3); those of orders made since are sums.
	questions = append(questions,
		question{"new orders whose net is not the sum of price × quantity", fmt.Sprintf(count+
			"(SELECT o.orderid FROM orders o JOIN orderlines l ON l.orderid = o.orderid JOIN products p ON p.prod_id = l.prod_id"+
			" WHERE o.orderid > %d GROUP BY o.orderid, o.netamount HAVING o.netamount <> SUM(p.price * l.quantity)) x", baseOrders), none},
		question{"new orders whose tax is not 8.25 % of the net", fmt.Sprintf(count+
			"orders WHERE orderid > %d AND ABS(CAST(tax AS decimal(19, 6)) - CAST(netamount AS decimal(19, 6)) * 0.0825) > 0.005", baseOrders), none},
		question{"new orders whose total is not net + tax", fmt.Sprintf(count+
			"orders WHERE orderid > %d AND totalamount <> netamount + tax", baseOrders), none},
	)
	if run != nil {
		questions = append(questions, questionsOf(*run)...)
	}
	return questions
}

// questionsOf compares a run's account with the rows between its marks. Work in doubt may be there or not.
func questionsOf(run Run) []question {
	c := run.Counts
	orders := fmt.Sprintf("orders WHERE orderid > %d AND orderid <= %d", run.Before.Order, run.After.Order)
	customers := fmt.Sprintf("customers WHERE customerid > %d AND customerid <= %d", run.Before.Customer, run.After.Customer)
	bought := c.Purchases - c.Rollbacks
	return []question{
		{"orders of the run: purchases less rollbacks", count + orders, bounds{from: bought, to: bought + c.InDoubtPurchases}},
		{"sum of the totals of the run's orders", "SELECT COALESCE(SUM(CAST(totalamount * 100 AS bigint)), 0) FROM " + orders,
			bounds{from: c.TotalCents, to: c.TotalCents + c.InDoubtTotalCents, cents: true}},
		{"new customers of the run", count + customers, bounds{from: c.NewCustomers, to: c.NewCustomers + c.InDoubtCustomers}},
	}
}

// categories is the number of rows of CATEGORIES (WORKLOAD.md section 1).
const categories = 16

// foreignKeys are all of them, those included that the schema leaves to the audit.
var foreignKeys = []struct{ table, column, parent, parentColumn string }{
	{"cust_hist", "customerid", "customers", "customerid"},
	{"cust_hist", "orderid", "orders", "orderid"},
	{"cust_hist", "prod_id", "products", "prod_id"},
	{"orders", "customerid", "customers", "customerid"},
	{"orderlines", "orderid", "orders", "orderid"},
	{"orderlines", "prod_id", "products", "prod_id"},
	{"inventory", "prod_id", "products", "prod_id"},
	{"products", "category", "categories", "category"},
	{"products", "common_prod_id", "products", "prod_id"},
	{"reorder", "prod_id", "products", "prod_id"},
}

package storetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/workload/ds2/calls"
)

// setStock sets the stock of products; 3 and more, so that nothing is restocked.
func (s *suite) setStock(t *testing.T, quantity int, products ...int32) {
	t.Helper()
	for _, product := range products {
		s.execStatement(
			t,
			"UPDATE inventory SET quan_in_stock = %d WHERE prod_id = %d",
			quantity,
			product,
		)
	}
}

const inStock = "quan_in_stock"

// readInventory is what a column of INVENTORY says of a product.
func (s *suite) readInventory(t *testing.T, column string, product int32) int64 {
	t.Helper()
	return s.queryNumber(t, "SELECT %s FROM inventory WHERE prod_id = %d", column, product)
}

func newPurchase(customer int64, items ...calls.Item) *calls.Purchase {
	return &calls.Purchase{
		CustomerID: customer,
		Items:      items,
		Net:        123456789,
		Tax:        10185185,
		Total:      133641974,
	}
}

func (s *suite) testPurchase(t *testing.T) {
	session := s.openSession(t)
	s.setStock(t, 100, 11, 12, 13)
	sold := s.readInventory(t, "sales", 12)
	buyer := s.idleCustomer(t)
	items := []calls.Item{
		{Product: 13, Quantity: 1},
		{Product: 11, Quantity: 2},
		{Product: 12, Quantity: 3},
	}
	id, err := session.Purchase(t.Context(), newPurchase(buyer, items...))
	require.NoError(t, err)
	assert.Greater(
		t,
		id,
		int64(12*Size.OrdersPerMonth),
		"the new order's id, after those that were loaded",
	)
	assert.Equal(
		t,
		[]string{fmt.Sprint(buyer, ",1234567.89,101851.85,1336419.74")},
		s.readCSV(
			t,
			"SELECT customerid, netamount, tax, totalamount FROM orders WHERE orderid = %d",
			id,
		),
	)
	assert.Equal(t, []string{"1,13,1", "2,11,2", "3,12,3"}, s.readCSV(t, `
		SELECT orderlineid, prod_id, quantity FROM orderlines l, orders o
		WHERE l.orderid = %d AND o.orderid = l.orderid AND l.orderdate = o.orderdate ORDER BY orderlineid`, id))
	const history = "SELECT prod_id FROM cust_hist WHERE customerid = %d AND orderid = %d ORDER BY prod_id"
	assert.Equal(t, []string{"11", "12", "13"}, s.readCSV(t, history, buyer, id))
	for _, item := range items {
		assert.EqualValues(
			t,
			100-item.Quantity,
			s.readInventory(t, inStock, item.Product),
			"product %d",
			item.Product,
		)
	}
	assert.EqualValues(t, 3, s.countRows(t, "orderlines WHERE orderid = %d", id), "order lines")
	assert.EqualValues(t, sold+3, s.readInventory(t, "sales", 12), "sales of product 12")

	var ten []calls.Item
	for i := range int32(10) {
		ten = append(ten, calls.Item{Product: 200 - i, Quantity: 1})
		s.setStock(t, 100, 200-i)
	}
	id, err = session.Purchase(t.Context(), newPurchase(buyer, ten...))
	assert.True(t, err == nil && id != 0, "ten items: order %d, error %v", id, err)
}

// sumUp sums up what a purchase changes.
func (s *suite) sumUp(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, table := range []string{"orders", "orderlines", "cust_hist", "reorder"} {
		fmt.Fprintf(&b, "%s %d, ", table, s.countRows(t, "%s", table))
	}
	for _, column := range []string{inStock, "sales"} {
		fmt.Fprintf(
			&b,
			"%s %d, ",
			column,
			s.queryNumber(t, "SELECT SUM(%s) FROM inventory", column),
		)
	}
	return b.String()
}

func (s *suite) testRollback(t *testing.T) {
	session := s.openSession(t)
	s.setStock(t, 100, 20, 21, 23)
	s.setStock(t, 5, 22)
	before := s.sumUp(t)
	for _, test := range []struct {
		name  string
		items []calls.Item
	}{
		{
			"the last falls short",
			[]calls.Item{{Product: 20, Quantity: 1}, {Product: 22, Quantity: 6}},
		},
		{
			"the first falls short",
			[]calls.Item{{Product: 22, Quantity: 6}, {Product: 23, Quantity: 1}},
		},
		{
			"one product twice, too much together",
			[]calls.Item{
				{Product: 22, Quantity: 3},
				{Product: 21, Quantity: 1},
				{Product: 22, Quantity: 3},
			},
		},
		{
			"would be restocked between its two lines",
			[]calls.Item{{Product: 22, Quantity: 3}, {Product: 22, Quantity: 3}},
		},
	} {
		id, err := session.Purchase(t.Context(), newPurchase(1, test.items...))
		require.NoError(t, err, test.name)
		assert.Zero(t, id, test.name+": order")
		assert.Equal(t, before, s.sumUp(t), test.name+": the tables")
	}
}

func (s *suite) testDuplicates(t *testing.T) {
	session := s.openSession(t)
	s.setStock(t, 100, 30, 31)
	sold := s.readInventory(t, "sales", 30)
	items := []calls.Item{
		{Product: 30, Quantity: 3},
		{Product: 31, Quantity: 1},
		{Product: 30, Quantity: 2},
	}
	id, err := session.Purchase(t.Context(), newPurchase(1, items...))
	require.NoError(t, err)
	assert.EqualValues(t, 3, s.countRows(t, "orderlines WHERE orderid = %d", id), "order lines")
	assert.EqualValues(t, 3, s.countRows(t, "cust_hist WHERE orderid = %d", id), "CUST_HIST rows")
	assert.EqualValues(t, 95, s.readInventory(t, inStock, 30), "stock")
	assert.EqualValues(t, sold+5, s.readInventory(t, "sales", 30), "sales")
}

// rushPurchases has 16 users buy the products in carts of random order, and returns how many pieces
// of each were bought: as many as its sales grew.
func (s *suite) rushPurchases(t *testing.T, purchases int, products ...int32) map[int32]int64 {
	var users sync.WaitGroup
	var mu sync.Mutex
	bought := map[int32]int64{}
	sold := map[int32]int64{}
	for _, p := range products {
		sold[p] = s.readInventory(t, "sales", p)
	}
	for user := range 16 {
		session := s.openSession(t)
		users.Go(func() {
			random := rand.New(rand.NewPCG(2, uint64(user)))
			for range purchases {
				var cart []calls.Item
				for _, i := range random.Perm(len(products)) {
					cart = append(
						cart,
						calls.Item{Product: products[i], Quantity: int16(1 + random.IntN(3))},
					)
				}
				id, err := session.Purchase(
					t.Context(),
					newPurchase(1+random.Int64N(int64(Size.Customers)), cart...),
				)
				if err != nil {
					t.Errorf("user %d: %v", user, err)
					return
				}
				if id != 0 {
					mu.Lock()
					for _, item := range cart {
						bought[item.Product] += int64(item.Quantity)
					}
					mu.Unlock()
				}
			}
		})
	}
	users.Wait()
	for p, n := range bought {
		assert.EqualValues(t, sold[p]+n, s.readInventory(t, "sales", p), "sales of product %d", p)
	}
	return bought
}

func (s *suite) testConcurrent(t *testing.T) {
	products := []int32{40, 41, 42, 43, 44}
	s.setStock(t, 100_000, products...)
	for p, n := range s.rushPurchases(t, 25, products...) {
		assert.EqualValues(t, 100_000-n, s.readInventory(t, inStock, p), "stock of product %d", p)
	}
}

func (s *suite) concurrentRestock(t *testing.T) {
	products := []int32{50, 51, 10_000}
	s.setStock(t, 20, products...)
	reordered := s.countRows(t, "reorder")
	for p := range s.rushPurchases(t, 25, products...) {
		assert.GreaterOrEqual(
			t,
			s.readInventory(t, inStock, p),
			int64(3),
			"product %d was not restocked",
			p,
		)
	}
	assert.Greater(t, s.countRows(t, "reorder"), reordered, "REORDER rows before")
}

func (s *suite) testRestock(t *testing.T) {
	s.setStock(t, 50, 60, 61, 62, 63)
	s.execStatement(t, "DELETE FROM reorder")
	// This leaves 0, 1, 2 and 3.
	s.execStatement(
		t,
		"UPDATE inventory SET quan_in_stock = prod_id - 60 WHERE prod_id BETWEEN 60 AND 63",
	)
	for product := int32(60); product <= 62; product++ {
		reordered := s.countRows(
			t,
			"reorder WHERE prod_id = %d AND quan_low = %d",
			product,
			product-60,
		)
		assert.EqualValues(
			t,
			1,
			reordered,
			"REORDER rows of product %d with what was left",
			product,
		)
		assert.GreaterOrEqual(
			t,
			s.readInventory(t, inStock, product),
			int64(3),
			"product %d was not restocked",
			product,
		)
	}
	assert.EqualValues(t, 3, s.countRows(t, "reorder"), "REORDER rows")
	assert.EqualValues(t, 3, s.readInventory(t, inStock, 63), "stock of a product that has 3 left")
}

// testBooks checks what an audit would: it comes last.
func (s *suite) testBooks(t *testing.T) {
	assert.Zero(t, s.countRows(t, `inventory i
		LEFT JOIN (SELECT prod_id, SUM(quantity) AS sold FROM orderlines GROUP BY prod_id) l ON l.prod_id = i.prod_id
		WHERE i.sales <> COALESCE(l.sold, 0)`), "products whose sales are not the sum of their order lines")
	assert.Zero(
		t,
		s.countRows(t, "inventory WHERE quan_in_stock < 0"),
		"products with a negative stock",
	)
	assert.EqualValues(
		t,
		s.countRows(t, "cust_hist"),
		s.countRows(t, "orderlines"),
		"order lines, and CUST_HIST rows",
	)
	assert.Zero(t, s.countRows(t, `orders
		WHERE NOT EXISTS (SELECT 1 FROM orderlines WHERE orderlines.orderid = orders.orderid)`), "orders without lines")
}

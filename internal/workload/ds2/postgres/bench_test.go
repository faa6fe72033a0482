package postgres_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"ds2/datagen"
	"ds2/internal/localpg/pgtest"
)

// BenchmarkOperations compares, operation by operation, the call of the DS2 procedure with the statements in it, prepared
// and sent by the client.
//
// What it taught, lowest of three on a busy machine of two cores, function and statement: login 80 and 65 µs, new customer
// 56 and 105, browse by category 38 and 42, by actor 34 and 55, purchase 295 and 498. The functions that only read cost what
// their statement costs, as near as can be measured, because the planner puts their text in the place of the call;
// NEW_CUSTOMER loses nothing by being PL/pgSQL; PURCHASE as statements takes nine round trips and holds its locks all that
// time. So the procedures of DS2 are what a session calls, all six.
func BenchmarkOperations(b *testing.B) {
	s := loaded(b, datagen.S)
	conn, err := pgx.Connect(b.Context(), pgtest.Server(b).URL(s.Name()))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.Background())
	words := datagen.DefaultWords()
	title := func(r *rand.Rand) string { return words.Titles[r.IntN(10)] + " " + words.Titles[r.IntN(1000)] }
	actor := func(r *rand.Rand) string { return words.First[r.IntN(200)] + " " + words.Last[r.IntN(200)] }
	login := func(r *rand.Rand) []any { return []any{fmt.Sprint("user", 1+r.IntN(datagen.S.Customers)), "password"} }
	customer := func(r *rand.Rand) []any {
		return []any{"FIRST", "LAST", "ADDRESS", nil, "CITY", "CA", "12345", "US", 1, "LAST@dell.com", "1234567890",
			1, "1234567890123456", "2012/03", fmt.Sprint("newuser", r.Uint64()), "password", 50, 20000, "M"}
	}
	for _, op := range []struct {
		name                string
		args                func(*rand.Rand) []any
		function, statement string
	}{
		{"login", login, "SELECT * FROM ds2_login($1, $2)",
			`SELECT c.customerid, p.title, p.actor, o.title FROM customers c
				LEFT JOIN cust_hist h ON h.customerid = c.customerid
				LEFT JOIN products p ON p.prod_id = h.prod_id
				LEFT JOIN products o ON o.prod_id = p.common_prod_id
				WHERE c.username = $1 AND c.password = $2`},
		{"new customer", customer,
			"SELECT ds2_new_customer($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)",
			`INSERT INTO customers (firstname, lastname, address1, address2, city, state, zip, country, region, email, phone,
				creditcardtype, creditcard, creditcardexpiration, username, password, age, income, gender)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
				ON CONFLICT (username) DO NOTHING RETURNING customerid`},
		{"browse by category", func(r *rand.Rand) []any { return []any{5, 1 + r.IntN(16)} },
			"SELECT * FROM ds2_browse_by_category($1, $2)",
			"SELECT * FROM products WHERE category = $2 AND special = 1 LIMIT $1"},
		{"browse by actor", func(r *rand.Rand) []any { return []any{5, actor(r)} },
			"SELECT * FROM ds2_browse_by_actor($1, $2)",
			"SELECT * FROM products WHERE to_tsvector('simple', actor) @@ plainto_tsquery('simple', $2) LIMIT $1"},
		{"browse by title", func(r *rand.Rand) []any { return []any{5, title(r)} },
			"SELECT * FROM ds2_browse_by_title($1, $2)",
			"SELECT * FROM products WHERE to_tsvector('simple', title) @@ plainto_tsquery('simple', $2) LIMIT $1"},
	} {
		for _, way := range []struct{ name, sql string }{{"function", op.function}, {"statement", op.statement}} {
			b.Run(op.name+"/"+way.name, func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, rand.Uint64()))
				for b.Loop() {
					rows, err := conn.Query(b.Context(), way.sql, op.args(r)...)
					if err != nil {
						b.Fatal(err)
					}
					for rows.Next() {
					}
					if err := rows.Err(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	b.Run("purchase/function", func(b *testing.B) {
		r := rand.New(rand.NewPCG(1, 1))
		for b.Loop() {
			products, quantities := cart(r)
			if _, err := conn.Exec(b.Context(), "SELECT ds2_purchase($1, $2, $3, $4, $5, $6, $7)",
				1+r.IntN(datagen.S.Customers), len(products), "100.00", "8.25", "108.25", products, quantities); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("purchase/statement", func(b *testing.B) {
		r := rand.New(rand.NewPCG(1, 1))
		for b.Loop() {
			products, quantities := cart(r)
			if err := purchaseByStatements(b.Context(), conn, 1+r.IntN(datagen.S.Customers), products, quantities); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// cart is five products, in order, and how many of each.
func cart(r *rand.Rand) (products []int32, quantities []int16) {
	for range 5 {
		products = append(products, 1+r.Int32N(int32(datagen.S.Products)))
		quantities = append(quantities, 1+int16(r.IntN(3)))
	}
	slices.SortFunc(products, cmp.Compare)
	return products, quantities
}

// purchaseByStatements is PURCHASE as a client without the function does it.
func purchaseByStatements(ctx context.Context, conn *pgx.Conn, customer int, products []int32, quantities []int16) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	var order int
	err = tx.QueryRow(ctx, `INSERT INTO orders (orderdate, customerid, netamount, tax, totalamount)
		VALUES (current_date, $1, 100, 8.25, 108.25) RETURNING orderid`, customer).Scan(&order)
	if err != nil {
		return err
	}
	for i, product := range products {
		tag, err := tx.Exec(ctx, `UPDATE inventory SET quan_in_stock = quan_in_stock - $2, sales = sales + $2
			WHERE prod_id = $1 AND quan_in_stock >= $2`, product, quantities[i])
		if err != nil || tag.RowsAffected() == 0 {
			return err // too little stock: rolled back
		}
	}
	_, err = tx.Exec(ctx, `INSERT INTO orderlines (orderlineid, orderid, prod_id, quantity, orderdate)
		SELECT line, $1, prod_id, quantity, current_date
		FROM unnest($2::integer[], $3::smallint[]) WITH ORDINALITY AS cart (prod_id, quantity, line)`, order, products, quantities)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO cust_hist (customerid, orderid, prod_id) SELECT $1, $2, prod_id FROM unnest($3::integer[]) AS cart (prod_id)",
		customer, order, products)
	if err != nil {
		return err
	}
	return tx.Commit(ctx)
}

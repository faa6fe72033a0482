package ds2

import (
	"context"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/audit"
	"ds2/schema"
)

// linesPerOrder is how many lines an order has on average.
const linesPerOrder = 5

// PlanReset removes the customers, orders and reorders of runs, and fills INVENTORY again.
func (Workload) PlanReset(ctx context.Context, target store.Database, info store.Info) (r workload.Reset, err error) {
	size, seed, err := audit.Loaded(info)
	if err != nil {
		return r, err
	}
	data, err := datagen.New(size, datagen.DefaultWords(), datagen.Options{Seed: seed}) // INVENTORY has no words in it
	if err != nil {
		return r, err
	}
	for _, part := range data.Parts() {
		if part.Table == datagen.Inventory {
			r.Rows = append(r.Rows, part)
		}
	}
	params := Dataset{Size: size}.Params(schema.Params{})
	if r.Statements, err = schema.Statements(target.Engine(), schema.Reset, params); err != nil {
		return r, err
	}
	customer, order, err := audit.Highest(ctx, target)
	if err != nil {
		return r, target.Wrap("find rows to remove in "+target.Label(), err)
	}
	customers, products := float64(size.Customers), float64(size.Products)
	orders := float64(size.OrdersPerMonth * datagen.Months)
	newCustomers, newOrders := float64(customer)-customers, float64(order)-orders
	lines, newLines := linesPerOrder*orders, linesPerOrder*newOrders
	r.Held = map[string]float64{
		"customers": customers, "orders": orders, "orderlines": lines, "cust_hist": lines, "inventory": products,
	}
	r.Added = map[string]float64{
		"customers": newCustomers, "orders": newOrders, "orderlines": newLines, "cust_hist": newLines,
		"inventory": min(newLines, products), // rows that runs have changed
	}
	return r, nil
}

package datagen_test

import (
	"fmt"
	"os"

	"ds2/datagen"
)

// The first rows of a table, typed, as an engine loads them.
func ExampleDataset_Parts() {
	dataset, err := datagen.New(datagen.S, datagen.DefaultWords(), datagen.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}

	for _, part := range dataset.Parts() {
		if part.Table != datagen.Inventory {
			continue
		}

		nextRow := part.Open()
		for range 3 {
			row := nextRow()
			fmt.Printf("product %d: %d in stock, %d sold\n", row[0].Int, row[1].Int, row[2].Int)
		}
	}
	// Output:
	// product 1: 138 in stock, 9 sold
	// product 2: 118 in stock, 19 sold
	// product 3: 228 in stock, 11 sold
}

// What a size comes to.
func ExampleParseSize() {
	size, err := datagen.ParseSize("20GB")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Println(size.Customers, "customers,", size.OrdersPerMonth, "orders a month,",
		size.Products, "products")
	// Output:
	// 40000000 customers, 2000000 orders a month, 200000 products
}

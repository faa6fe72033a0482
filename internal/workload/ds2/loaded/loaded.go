// Package loaded is what ds2_info notes of a dataset of DVD Store 2.
package loaded

import (
	"fmt"
	"strconv"

	"ds2/datagen"
	"ds2/internal/store"
)

// The names in store.Info, besides those of every workload.
const (
	Customers      = "customers"
	OrdersPerMonth = "orders_per_month"
	Products       = "products"
	DataSeed       = "data_seed"    // of datagen.Options; absent where it is 0
	Words          = "words_sha256" // of the word lists that titles and actors are made of
)

// Size is the three numbers of the dataset.
func Size(info store.Info) (datagen.Size, error) {
	var z datagen.Size
	for name, n := range map[string]*int{Customers: &z.Customers, OrdersPerMonth: &z.OrdersPerMonth, Products: &z.Products} {
		var err error
		if *n, err = strconv.Atoi(info[name]); err != nil {
			return z, fmt.Errorf("read table ds2_info: %s is %q, not a number", name, info[name])
		}
	}
	return z, nil
}

// Seed is what the rows of the dataset depend on, as in datagen.Options.
func Seed(info store.Info) (uint64, error) {
	text, ok := info[DataSeed]
	if !ok {
		return 0, nil
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read table ds2_info: %s is %q, not a number", DataSeed, text)
	}
	return seed, nil
}

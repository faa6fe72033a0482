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

// Rows are the size of the dataset, and the seed of its rows, as in datagen.Options.
func Rows(info store.Info) (size datagen.Size, seed uint64, err error) {
	var numbers [4]uint64
	for i, name := range [...]string{Customers, OrdersPerMonth, Products, DataSeed} {
		text, noted := info[name]
		if name == DataSeed && !noted {
			continue
		}
		if numbers[i], err = strconv.ParseUint(text, 10, 64); err != nil {
			return size, 0, fmt.Errorf("read table ds2_info: %s is %q, not a number", name, text)
		}
	}
	size = datagen.Size{Customers: int(numbers[0]), OrdersPerMonth: int(numbers[1]), Products: int(numbers[2])}
	return size, numbers[3], nil
}

package audit

import (
	"fmt"
	"strconv"

	"ds2/datagen"
	"ds2/internal/store"
)

// What ds2_info notes of a dataset: the names in store.Info besides those of every workload.
const (
	InfoCustomers      = "customers"
	InfoOrdersPerMonth = "orders_per_month"
	InfoProducts       = "products"
	InfoDataSeed       = "data_seed"    // of datagen.Options; absent where it is 0
	InfoWords          = "words_sha256" // of the word lists that titles and actors are made of
)

// Loaded are the size of the dataset, and the seed of its rows, as in datagen.Options.
func Loaded(info store.Info) (size datagen.Size, seed uint64, err error) {
	names := [...]string{InfoCustomers, InfoOrdersPerMonth, InfoProducts, InfoDataSeed}
	var numbers [len(names)]uint64
	for i, name := range names {
		text, noted := info[name]
		if name == InfoDataSeed && !noted {
			continue
		}
		if numbers[i], err = strconv.ParseUint(text, 10, 64); err != nil {
			return size, 0, fmt.Errorf("read table ds2_info: %s is %q, not a number", name, text)
		}
	}
	size = datagen.Size{
		Customers:      int(numbers[0]),
		OrdersPerMonth: int(numbers[1]),
		Products:       int(numbers[2]),
	}
	return size, numbers[3], nil
}

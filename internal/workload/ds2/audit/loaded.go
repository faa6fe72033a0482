package audit

import (
	"errors"

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
	for name, into := range map[string]*int{
		InfoCustomers:      &size.Customers,
		InfoOrdersPerMonth: &size.OrdersPerMonth,
		InfoProducts:       &size.Products,
	} {
		n, failed := info.Number(name)
		*into = int(n)
		err = errors.Join(err, failed)
	}
	if _, noted := info[InfoDataSeed]; noted && err == nil {
		seed, err = info.Number(InfoDataSeed)
	}
	return size, seed, err
}

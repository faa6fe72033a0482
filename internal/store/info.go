package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"ds2/datagen"
)

// Info is what the kit itself notes in a database, in the table ds2_info of names and values, so that driver and audit
// know what was loaded without being told.
type Info map[string]string

// The names in Info.
const (
	InfoState          = "state"    // StateLoading or StateReady
	InfoWorkload       = "workload" // whose database it is; see Info.Workload
	InfoSize           = "size"     // what the load was asked for, such as "W"
	InfoCustomers      = "customers"
	InfoOrdersPerMonth = "orders_per_month"
	InfoProducts       = "products"
	InfoDataSeed       = "data_seed"    // of datagen.Options; absent where it is 0
	InfoWords          = "words_sha256" // of the word lists that titles and actors are made of
	InfoVersion        = "kit_version"

	StateLoading = "loading"
	StateReady   = "ready"
)

// Workload names the workload whose database it is. Those that do not say it were loaded by a ds2 that knew DS2 alone.
func (i Info) Workload() string { return cmp.Or(i[InfoWorkload], "ds2") }

// ReadInfo reads ds2_info. A database that DS2's own scripts loaded has none: Store.Wrap makes an error of class Config
// of what ReadInfo then returns.
func ReadInfo(ctx context.Context, db *sql.DB) (Info, error) {
	rows, err := db.QueryContext(ctx, "SELECT name, value FROM ds2_info")
	if err != nil {
		return nil, fmt.Errorf("read table ds2_info: %w", err)
	}
	defer rows.Close()
	info := Info{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, fmt.Errorf("read table ds2_info: %w", err)
		}
		info[name] = value
	}
	return info, rows.Err()
}

// CheckReady is an error of class Config where the load that made the database has not come to its end.
func (i Info) CheckReady() error {
	if i[InfoState] == StateReady {
		return nil
	}
	return &Error{
		Op: "check the state of the database", Class: Config, Err: errors.New("its load was not finished"),
		Hint: "finish it with ds2 load --resume, or start again with ds2 load --drop",
	}
}

// DataSeed is what the rows of the dataset that was loaded depend on, as in datagen.Options.
func (i Info) DataSeed() (uint64, error) {
	text, ok := i[InfoDataSeed]
	if !ok {
		return 0, nil
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read table ds2_info: %s is %q, not a number", InfoDataSeed, text)
	}
	return seed, nil
}

// Size is the three numbers of the dataset that was loaded.
func (i Info) Size() (datagen.Size, error) {
	var z datagen.Size
	for name, n := range map[string]*int{InfoCustomers: &z.Customers, InfoOrdersPerMonth: &z.OrdersPerMonth, InfoProducts: &z.Products} {
		var err error
		if *n, err = strconv.Atoi(i[name]); err != nil {
			return z, fmt.Errorf("read table ds2_info: %s is %q, not a number", name, i[name])
		}
	}
	return z, nil
}

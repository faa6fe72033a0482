package ds2

import (
	"fmt"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/internal/workload/ds2/audit"
	"ds2/schema"
)

// Dataset is a dataset of DS2.
type Dataset struct {
	Size  datagen.Size
	Words string         // sum of the word lists, as datagen.Words.Sum gives it
	Seed  uint64         // of the rows, as in datagen.Options
	Rows  []datagen.Part // of a datagen.Dataset, or of files
}

func (d Dataset) String() string { return "size " + d.Size.String() }

// Info is what the table ds2_info says of the dataset.
func (d Dataset) Info() store.Info {
	info := store.Info{
		store.InfoWorkload:       Name,
		store.InfoSize:           d.Size.String(),
		audit.InfoCustomers:      fmt.Sprint(d.Size.Customers),
		audit.InfoOrdersPerMonth: fmt.Sprint(d.Size.OrdersPerMonth),
		audit.InfoProducts:       fmt.Sprint(d.Size.Products),
		audit.InfoWords:          d.Words,
	}
	if d.Seed != 0 {
		info[audit.InfoDataSeed] = fmt.Sprint(d.Seed)
	}
	return info
}

// SignatureColumns are columns that hardly another application has.
func (Dataset) SignatureColumns() map[string]string {
	return map[string]string{
		"categories": "categoryname",
		"customers":  "creditcardexpiration",
		"cust_hist":  "orderid",
		"inventory":  "quan_in_stock",
		"orderlines": "orderlineid",
		"orders":     "netamount",
		"products":   "common_prod_id",
		"reorder":    "quan_low",
	}
}

// Params names the size, and what the schema uses of SQL Server: all but delayed durability.
func (d Dataset) Params(p schema.Params) schema.Params {
	p.Customers = int64(d.Size.Customers)
	p.OrdersPerMonth = int64(d.Size.OrdersPerMonth)
	p.Products = int64(d.Size.Products)
	p.Layout.Uses = schema.Features{
		Files:       true,
		Recovery:    true,
		Statistics:  true,
		Catalog:     true,
		ServerState: true,
		Owners:      true,
		FullText:    true,
	}
	return p
}

// Parts are the rows, alike for every engine.
func (d Dataset) Parts(string) []datagen.Part { return d.Rows }

package schema

import (
	"fmt"
	"strings"
)

// ExpectedBytes is about how large a database is after a load of p's size, indexes included, files that are made larger
// in advance left out. PostgreSQL's was measured; SQL Server's is computed from the sizes of its rows.
func ExpectedBytes(engine string, p Params) (int64, error) {
	d, ok := dialects[engine]
	if !ok {
		return 0, fmt.Errorf("size database: no engine %q; known: %s", engine, strings.Join(Engines(), ", "))
	}
	return d.bytes(p), nil
}

// postgresBytes is pg_database_size after a load, from what it grew by per row of size M on PostgreSQL 15, indexes
// included. Size S comes out 4 % too small: a page of an index that is not full weighs more there.
func postgresBytes(p Params) int64 {
	const (
		empty    = 7_500_000 // a database without tables
		customer = 294.5
		order    = 111.5 + linesPerOrder*(74.6+54.8) // with its lines and their CUST_HIST
		product  = 140.9 + 75.0                      // with its INVENTORY
	)
	return empty + p.Bytes + int64(customer*float64(p.Customers)+order*float64(p.Orders())+product*float64(p.Products))
}

// sqlServerBytes is the data of all filegroups.
func sqlServerBytes(p Params) int64 {
	customers, orders, misc, indexes := dataMB(p)
	return p.Bytes + (customers+orders+misc+indexes)<<20
}

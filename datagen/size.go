package datagen

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Size is how much of everything a dataset holds (WORKLOAD.md section 2).
type Size struct {
	Customers      int `json:"customers"`
	OrdersPerMonth int `json:"orders_per_month"`
	Products       int `json:"products"`
}

// Months is the number of months that orders run over.
const Months = 12

// The named sizes: what DS2 calls 10 MB, 1 GB and 100 GB, and W, the 20 GB of the storage report
// (WORKLOAD.md section 2). Part.Bytes says what they come to as CSV.
var (
	S = Size{20_000, 1_000, 10_000}
	M = Size{2_000_000, 100_000, 100_000}
	L = Size{200_000_000, 10_000_000, 1_000_000}
	W = Size{40_000_000, 2_000_000, 200_000}
)

var named = map[string]Size{"S": S, "M": M, "L": L, "W": W}

// sizeForm is a number and a unit. More than ten digits fit no column, and might not fit an int.
var sizeForm = regexp.MustCompile(`^0*([1-9]\d{0,9})\s*([MGT]B)$`)

// ParseSize reads a size as users write it: S, M, L, W, or a number of megabytes, gigabytes or
// terabytes such as 30MB, 80GB, 1TB, in capitals or not. n MB is S·n/10, 1 GB is M, n GB with n > 1
// is L·n/100, and 1 TB is 1000 GB: DS2.1's rule, which is not continuous in products at 1 GB.
func ParseSize(s string) (Size, error) {
	text := strings.ToUpper(strings.TrimSpace(s))
	if size, ok := named[text]; ok {
		return size, nil
	}
	form := sizeForm.FindStringSubmatch(text)
	if form == nil {
		return Size{}, fmt.Errorf("invalid size %q: use S, M, L, W, or a whole number of MB, GB or TB, such as 1300MB (not 1.3GB), 80GB, 1TB", s)
	}
	n, _ := strconv.Atoi(form[1]) // digits, and no more than fit
	var size Size
	switch unit := form[2]; {
	case unit == "MB":
		size = S.multiplyRows(n, 10)
	case unit == "TB":
		size = L.multiplyRows(n*1000, 100)
	case n == 1:
		size = M
	default:
		size = L.multiplyRows(n, 100)
	}
	if err := size.Check(); err != nil {
		return Size{}, fmt.Errorf("%q: %w", s, err)
	}
	return size, nil
}

// multiplyRows is the size n/by times.
func (z Size) multiplyRows(n, by int) Size {
	return Size{z.Customers * n / by, z.OrdersPerMonth * n / by, z.Products * n / by}
}

// Check refuses a size that is empty in one of its numbers, or whose keys do not fit their columns,
// naming the column.
func (z Size) Check() error {
	for _, column := range []struct {
		name string
		max  int
	}{
		{"CUSTOMERS.CUSTOMERID", z.Customers},
		{"ORDERS.ORDERID", Months * z.OrdersPerMonth},
		{"PRODUCTS.PROD_ID", z.Products},
	} {
		if column.max < 1 {
			return fmt.Errorf("%s would hold no row: at least 1 is needed", column.name)
		}
		if column.max > math.MaxInt32 {
			return overflowError(column.name, column.max)
		}
	}
	// On average 5 lines per order and 2 pieces per line; a hundredth is left for chance.
	if sales := 10 * Months * z.OrdersPerMonth / z.Products; sales > math.MaxInt32/100*99 {
		return overflowError("INVENTORY.SALES", sales)
	}
	return nil
}

// overflowError names the column that is too narrow: the schema's keys are of 32 bits, as DS2's
// are.
func overflowError(column string, value int) error {
	return fmt.Errorf("it is too large: column %s would reach %d, and a 32-bit integer holds %d: take a smaller size",
		column, value, math.MaxInt32)
}

// String gives the size as ParseSize reads it: a named size by its letter, one of DS2.1's rule in
// MB or GB, and any other as its three numbers, as ParseRows reads them.
func (z Size) String() string {
	for name, size := range named {
		if z == size {
			return name
		}
	}
	if mb := z.OrdersPerMonth / 100; z == S.multiplyRows(mb, 10) {
		return strconv.Itoa(mb) + "MB"
	}
	if gb := z.OrdersPerMonth / 100_000; gb > 1 && z == L.multiplyRows(gb, 100) {
		return strconv.Itoa(gb) + "GB"
	}
	return fmt.Sprintf("customers=%d,orders-per-month=%d,products=%d",
		z.Customers, z.OrdersPerMonth, z.Products)
}

// ParseRows reads a size as its three numbers:
// "customers=20000,orders-per-month=1000,products=10000", in any order.
func ParseRows(s string) (Size, error) {
	invalid := fmt.Errorf("%q is not the three numbers of a size: write customers=20000,orders-per-month=1000,products=10000, each once", s)
	var z Size
	numbers := map[string]*int{
		"customers": &z.Customers, "orders-per-month": &z.OrdersPerMonth, "products": &z.Products,
	}
	for field := range strings.SplitSeq(s, ",") {
		name, value, _ := strings.Cut(field, "=")
		name = strings.ReplaceAll(strings.TrimSpace(name), "_", "-")
		number, ok := numbers[name]
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 62)
		if !ok || err != nil {
			return Size{}, invalid
		}
		delete(numbers, name)                  // each once
		*number = int(min(n, math.MaxInt32+1)) // Check names the column
	}
	if len(numbers) > 0 {
		return Size{}, invalid
	}
	if err := z.Check(); err != nil {
		return Size{}, fmt.Errorf("%q: %w", s, err)
	}
	return z, nil
}

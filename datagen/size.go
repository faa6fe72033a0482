package datagen

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is how much of everything a dataset holds (WORKLOAD.md section 2).
type Size struct {
	Customers      int
	OrdersPerMonth int
	Products       int
}

// Months is the number of months that orders run over.
const Months = 12

// The named sizes.
var (
	S = Size{20_000, 1_000, 10_000}
	M = Size{2_000_000, 100_000, 100_000}
	L = Size{200_000_000, 10_000_000, 1_000_000}
	W = Size{40_000_000, 2_000_000, 200_000}
)

// ParseSize reads a size as users write it: S, M, L, W, or a number of megabytes, gigabytes or terabytes such as 30MB,
// 80GB, 1TB, in capitals or not. n MB is S·n/10, 1 GB is M, n GB with n > 1 is L·n/100, and 1 TB is 1000 GB: DS2.1's
// rule, which is not continuous in products at 1 GB.
func ParseSize(s string) (Size, error) {
	text := strings.ToUpper(strings.TrimSpace(s))
	switch text {
	case "S":
		return S, nil
	case "M":
		return M, nil
	case "L":
		return L, nil
	case "W":
		return W, nil
	}
	if len(text) < 3 {
		return Size{}, sizeError(s)
	}
	digits, unit := text[:len(text)-2], text[len(text)-2:]
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || n == 0 {
		return Size{}, sizeError(s)
	}
	size := Size{}
	switch {
	case unit == "MB":
		size = S.times(int(n), 10)
	case unit == "GB" && n == 1:
		size = M
	case unit == "GB":
		size = L.times(int(n), 100)
	case unit == "TB":
		size = L.times(int(n)*1000, 100)
	default:
		return Size{}, sizeError(s)
	}
	if err := size.Check(); err != nil {
		return Size{}, fmt.Errorf("%q: %w", s, err)
	}
	return size, nil
}

func sizeError(s string) error {
	return fmt.Errorf("invalid size %q: use S, M, L, W, or a whole number of MB, GB or TB, such as 1300MB (not 1.3GB), 80GB, 1TB", s)
}

func (z Size) times(n, by int) Size {
	return Size{z.Customers * n / by, z.OrdersPerMonth * n / by, z.Products * n / by}
}

// Check refuses a size that is empty in one of its numbers, or whose keys do not fit their columns, naming the column.
func (z Size) Check() error {
	for _, column := range []struct {
		name string
		max  int
	}{
		{"CUSTOMERS.CUSTOMERID", z.Customers},
		{"ORDERS.ORDERID", z.OrdersPerMonth},
		{"PRODUCTS.PROD_ID", z.Products},
	} {
		if column.max < 1 {
			return fmt.Errorf("%s would hold no row: at least 1 is needed", column.name)
		}
		if column.max > math.MaxInt32 {
			return overflow(column.name, column.max)
		}
	}
	if orders := Months * z.OrdersPerMonth; orders > math.MaxInt32 {
		return overflow("ORDERS.ORDERID", orders)
	}
	// On average 5 lines an order and 2 pieces a line; a hundredth is left for chance.
	if sales := 10 * Months * z.OrdersPerMonth / z.Products; sales > math.MaxInt32/100*99 {
		return overflow("INVENTORY.SALES", sales)
	}
	return nil
}

func overflow(column string, value int) error {
	return fmt.Errorf("column %s would reach %d, over %d, the largest number of 32 bits: take a smaller size", column, value, math.MaxInt32)
}

// String gives the size as ParseSize reads it: a named size by its letter, one of DS2.1's rule in MB or GB, and any
// other as its three numbers, as ParseRows reads them.
func (z Size) String() string {
	switch z {
	case S:
		return "S"
	case M:
		return "M"
	case L:
		return "L"
	case W:
		return "W"
	}
	if mb := z.OrdersPerMonth / 100; z == S.times(mb, 10) {
		return strconv.Itoa(mb) + "MB"
	}
	if gb := z.OrdersPerMonth / 100_000; gb > 1 && z == L.times(gb, 100) {
		return strconv.Itoa(gb) + "GB"
	}
	return fmt.Sprintf("customers=%d,orders-per-month=%d,products=%d", z.Customers, z.OrdersPerMonth, z.Products)
}

// ParseRows reads a size as its three numbers: "customers=20000,orders-per-month=1000,products=10000", in any order.
func ParseRows(s string) (Size, error) {
	var z Size
	numbers := map[string]*int{"customers": &z.Customers, "orders-per-month": &z.OrdersPerMonth, "products": &z.Products}
	for field := range strings.SplitSeq(s, ",") {
		name, value, _ := strings.Cut(field, "=")
		name = strings.ReplaceAll(strings.TrimSpace(name), "_", "-")
		number, ok := numbers[name]
		if !ok {
			return Size{}, rowsError(s)
		}
		delete(numbers, name) // each once
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 62)
		if err != nil {
			return Size{}, rowsError(s)
		}
		*number = int(min(n, math.MaxInt32+1)) // Check names the column
	}
	if len(numbers) > 0 {
		return Size{}, rowsError(s)
	}
	if err := z.Check(); err != nil {
		return Size{}, fmt.Errorf("%q: %w", s, err)
	}
	return z, nil
}

func rowsError(s string) error {
	return fmt.Errorf("%q is not the three numbers of a size: write customers=20000,orders-per-month=1000,products=10000, each once", s)
}

package datagen_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/datagen"
	"ds2/internal/fuzztest"
)

func TestParseSize(t *testing.T) {
	for _, c := range []struct {
		text   string
		want   datagen.Size
		string string // what it is printed as
	}{
		{"S", datagen.S, "S"},
		{"m", datagen.M, "M"},
		{" L ", datagen.L, "L"},
		{"W", datagen.W, "W"},
		{"10MB", datagen.S, "S"},
		{"1MB", datagen.Size{2_000, 100, 1_000}, "1MB"},
		{"30 mb", datagen.Size{60_000, 3_000, 30_000}, "30MB"},
		// the rule is not continuous in products
		{"999MB", datagen.Size{1_998_000, 99_900, 999_000}, "999MB"},
		{"1GB", datagen.M, "M"},
		{"2GB", datagen.Size{4_000_000, 200_000, 20_000}, "2GB"},
		{"20GB", datagen.W, "W"},
		{"80GB", datagen.Size{160_000_000, 8_000_000, 800_000}, "80GB"},
		{"100GB", datagen.L, "L"},
		{"1TB", datagen.Size{2_000_000_000, 100_000_000, 10_000_000}, "1000GB"},
		{"1073GB", datagen.Size{2_146_000_000, 107_300_000, 10_730_000}, "1073GB"}, // the largest
		{"1000MB", datagen.Size{2_000_000, 100_000, 1_000_000}, "1000MB"},          // not 1GB
	} {
		got, err := datagen.ParseSize(c.text)
		assert.True(t, err == nil && got == c.want && got.String() == c.string,
			"size %q = %#v (%v), %v; want %#v (%s)", c.text, got, got, err, c.want, c.string)
	}
}

func TestParseSizeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "invalid size",
		"X":                      "invalid size",
		"MB":                     "invalid size",
		"0MB":                    "invalid size",
		"-3MB":                   "invalid size",
		"+3MB":                   "invalid size",
		"1.5GB":                  "such as 1300MB (not 1.3GB)",
		"30 M B":                 "invalid size",
		"99999999999999999999GB": "invalid size",
		"1074GB":                 "CUSTOMERS.CUSTOMERID would reach 2148000000",
		"2147483647TB":           "CUSTOMERS.CUSTOMERID", // does not wrap around
	} {
		_, err := datagen.ParseSize(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestParseRows(t *testing.T) {
	want := datagen.Size{Customers: 5, OrdersPerMonth: 6, Products: 7}
	for _, text := range []string{
		"customers=5,orders-per-month=6,products=7",
		"products=7, customers = 5 ,orders_per_month=6",
		want.String(),
	} {
		got, err := datagen.ParseRows(text)
		assert.True(t, err == nil && got == want, "rows %q = %v, %v; want %v", text, got, err, want)
	}
	for text, want := range map[string]string{
		"":                               "not the three numbers",
		"customers=5,orders-per-month=6": "not the three numbers",
		"customers=5,orders-per-month=6,products=7,":                    "not the three numbers",
		"customers=5,orders-per-month=6,products=7,products=8":          "not the three numbers",
		"customers=5,orders-per-month=6,products=x":                     "not the three numbers",
		"customers=0,orders-per-month=6,products=7":                     "CUSTOMERS.CUSTOMERID would hold no row",
		"customers=2147483648,orders-per-month=6,products=7":            "CUSTOMERS.CUSTOMERID would reach",
		"customers=5,orders-per-month=178956971,products=99999":         "ORDERS.ORDERID would reach",
		"customers=5,orders-per-month=6,products=4000000000":            "PRODUCTS.PROD_ID would reach",
		"customers=5,orders-per-month=100000000,products=1":             "INVENTORY.SALES would reach",
		"customers=4000000000000000000,orders-per-month=6,products=700": "CUSTOMERS.CUSTOMERID would reach",
	} {
		_, err := datagen.ParseRows(text)
		assert.ErrorContains(t, err, want, text)
	}
}

// What parses, fits its columns, and prints as what parses to the same.
func FuzzParseSize(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text string) {
		parsers := []func(string) (datagen.Size, error){datagen.ParseSize, datagen.ParseRows}
		for _, parse := range parsers {
			size, err := parse(text)
			if err != nil {
				continue
			}
			assert.Positive(t, min(size.Customers, size.OrdersPerMonth, size.Products), text)
			assert.LessOrEqual(
				t,
				max(size.Customers, 12*size.OrdersPerMonth, size.Products),
				math.MaxInt32,
				text,
			)
			again, err := datagen.ParseSize(size.String())
			if err != nil {
				again, err = datagen.ParseRows(size.String())
			}
			assert.True(
				t,
				err == nil && again == size,
				"%q = %#v, and again %#v, %v",
				text,
				size,
				again,
				err,
			)
		}
	}, "S", "w", "30MB", "1GB", "80GB", "1TB", "customers=5,orders-per-month=6,products=7", "products=1,products=2")
}

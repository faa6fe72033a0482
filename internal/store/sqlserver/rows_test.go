package sqlserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRowReader(t *testing.T) {
	columns := []column{
		{name: "ID", kind: "INT"},
		{name: "NAME", kind: "VARCHAR"},
		{name: "NOTE", kind: "VARCHAR", nullable: true},
		{name: "DAY", kind: "DATETIME"},
		{name: "PRICE", kind: "MONEY"},
	}
	for _, c := range []struct {
		why, csv string
		want     string // the rows, or what the error says
	}{
		{"plain", "1,a,b,2009/12/31,1.50\n", "[1 a b 2009-12-31 1.50]"},
		{"a price below 10.00 has a blank before it", "1,a,b,2009/12/31, 9.99\n", "[1 a b 2009-12-31 9.99]"},
		{"files for Windows", "1,a,b,2009/12/31,1.50\r\n2,c,d,2009/01/01,0.10\r\n",
			"[1 a b 2009-12-31 1.50][2 c d 2009-01-01 0.10]"},
		{"an empty field is NULL only where that may be", "1,,,2009/12/31,1.50\n", "[1  <nil> 2009-12-31 1.50]"},
		{"the last line may lack its end", "1,a,b,2009/12/31,1.50", "[1 a b 2009-12-31 1.50]"},
		{"nothing", "", ""},
		{"too few fields", "1,a,b,2009/12/31\n", "read row 1: 4 fields, not 5"},
		{"too many", "1,a,b,2009/12/31,1.50,9\n", "read row 1: more than 5 fields"},
		{"a number that is none", "x,a,b,2009/12/31,1.50\n", `read row 1: column ID: "x" is not a whole number`},
		{"a key that is missing", "1,a,b,2009/12/31,1.50\n,a,b,2009/12/31,1.50\n",
			"[1 a b 2009-12-31 1.50]read row 2: column ID is empty"},
		{"a day that does not exist", "1,a,b,2009/02/29,1.50\n",
			`read row 1: column DAY: "2009/02/29" is not a date such as 2009/12/31`},
		{"quotes, which DS2's files do not have", "1,\"a\",b,2009/12/31,1.50\n",
			"read row 1: column NAME: fields in quotes are not taken"},
		{"a line longer than the buffer", strings.Repeat("1", 70_000), "read row 1: bufio: buffer full"},
	} {
		next, err := fromCSV(strings.NewReader(c.csv), columns)
		require.NoError(t, err)
		assert.Equal(t, c.want, showAll(len(columns), next), c.why)
	}
}

func TestNativeReader(t *testing.T) {
	columns := []column{{name: "ID", kind: "BIGINT"}, {name: "N", kind: "INT"}, {name: "S", kind: "SMALLINT"},
		{name: "BODY", kind: "VARBINARY"}}
	const row = "\xfe\xff\xff\xff\xff\xff\xff\xff" + "\x01\x00\x00\x80" + "\x0a\x00" + "\x03\x00abc"
	for _, c := range []struct {
		why, rows string
		want      string // the rows, or what the error says
	}{
		{"nothing", "", ""},
		{"two", row + row, "[-2 -2147483647 10 abc][-2 -2147483647 10 abc]"},
		{"no body", row[:len(row)-5] + "\x00\x00", "[-2 -2147483647 10 ]"},
		{"cut off in a body", row + row[:len(row)-1], "[-2 -2147483647 10 abc]read row 2: unexpected EOF"},
		{"cut off between columns", row[:8], "read row 1: unexpected EOF"},
	} {
		next, err := fromNative(strings.NewReader(c.rows), columns)
		require.NoError(t, err)
		assert.Equal(t, c.want, showAll(len(columns), next), c.why)
	}
	_, err := fromNative(strings.NewReader(""), []column{{name: "NAME", kind: "VARCHAR"}})
	assert.Error(t, err, "a text is taken")
}

// showAll is the rows and the error that ends them.
func showAll(columns int, next func([]any) error) (got string) {
	_, err := eachRow(columns, next, func(row []any) error {
		fields := slices.Clone(row)
		for i, v := range row {
			switch v := v.(type) {
			case []byte:
				fields[i] = string(v)
			case time.Time:
				fields[i] = v.Format(time.DateOnly)
			}
		}
		got += fmt.Sprint(fields)
		return nil
	})
	if err != nil {
		got += err.Error()
	}
	return got
}

func TestParseMoney(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"12.9900", "129900"},
		{"0.0000", "0"},
		{"-3.0500", "-30500"},
		{"12.99", `amount "12.99" is not a number with four places`},
		{"1e3", `amount "1e3" is not a number with four places`},
	} {
		amount, err := parseMoney([]byte(c.in))
		got := fmt.Sprint(amount)
		if err != nil {
			got = err.Error()
		}
		assert.Equal(t, c.want, got, c.in)
	}
}

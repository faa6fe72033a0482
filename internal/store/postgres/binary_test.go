package postgres

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/localpg/pgtest"
	"ds2/schema"
)

// ways are how rows may be copied: as copyFrom does, and as the server reads CSV without quotes most cheaply by itself.
var ways = []struct {
	name string
	copy func(testing.TB, *pgx.Conn, string, io.Reader) error
}{
	{"binary", func(t testing.TB, conn *pgx.Conn, table string, csv io.Reader) error {
		_, err := copyFrom(t.Context(), conn, table, csv)
		return err
	}},
	{"text", func(t testing.TB, conn *pgx.Conn, table string, csv io.Reader) error {
		_, err := copyAs(t.Context(), conn, table, csv, "FORMAT text, DELIMITER ',', NULL ''")
		return err
	}},
}

// connection connects to a database, and executes statements.
func connection(t testing.TB, url string, statements ...string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	for _, statement := range statements {
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err, statement)
	}
	return conn
}

// tables makes the tables of DS2 in an empty database.
func tables(t testing.TB) *pgx.Conn {
	t.Helper()
	params := schema.Params{Customers: 1, OrdersPerMonth: 1, Products: 1}
	statements, err := schema.Statements("postgres", schema.Tables, params)
	require.NoError(t, err)
	var all []string
	for _, s := range statements {
		all = append(all, s.SQL)
	}
	return connection(t, pgtest.Database(t), all...)
}

// firstParts are the first part of each table, and of the customers' from elsewhere.
func firstParts(t testing.TB, size datagen.Size) (parts []datagen.Part) {
	data, err := datagen.New(size, datagen.DefaultWords(), datagen.Options{})
	require.NoError(t, err)
	seen := map[datagen.Table]bool{}
	for _, part := range data.Parts() {
		if !seen[part.Table] || part.File == "row_cust.csv" {
			seen[part.Table] = true
			parts = append(parts, part)
		}
	}
	return parts
}

// TestBinaryRowsAreTheServersOwn copies every table both ways, and compares what is stored.
func TestBinaryRowsAreTheServersOwn(t *testing.T) {
	conn := tables(t)
	for _, crlf := range []bool{false, true} {
		for _, part := range firstParts(t, datagen.S) {
			var csv bytes.Buffer
			_, err := part.WriteTo(&csv)
			require.NoError(t, err)
			rows := csv.Bytes()
			if crlf {
				rows = bytes.ReplaceAll(rows, []byte("\n"), []byte("\r\n"))
			}
			var sums []string
			for _, way := range ways {
				err := way.copy(t, conn, string(part.Table), bytes.NewReader(rows))
				require.NoError(t, err, "%s, %s", part.File, way.name)
				const ask = `SELECT count(*) || ' rows, sum ' || sum(hashtextextended(r::text || pg_column_size(r), 0))
					FROM %s r`
				var sum string
				require.NoError(t, conn.QueryRow(t.Context(), fmt.Sprintf(ask, part.Table)).Scan(&sum))
				sums = append(sums, sum)
				_, err = conn.Exec(t.Context(), "TRUNCATE "+string(part.Table))
				require.NoError(t, err)
			}
			assert.Equal(t, sums[0], sums[1], part.File)
			assert.Contains(t, sums[0], fmt.Sprint(bytes.Count(rows, []byte("\n")), " rows"), part.File)
		}
	}
}

// TestBinaryRowsRefuse gives rows that no dataset has.
func TestBinaryRowsRefuse(t *testing.T) {
	columns := []column{{"i", integer}, {"s", smallint}, {"d", date}, {"n", numeric}, {"m", integer}}
	for _, c := range []struct{ csv, want string }{
		{"1,2,2009/01/31,3.45,6\n", ""},
		{"2147483647,32767,2008/02/29,0.00,0\r\n1,2,2007/02/28,123456789012345.67,00000001\n", ""},
		{",,,,\n,,,,\r\n", ""},
		{"", ""},
		{"1,2,2009/01/31,3.45\n", "row 1: it has 4 columns, not 5"},
		{"1,2,2009/01/31,3.45\r\n", "row 1: it has 4 columns, not 5"},
		{"\n", "row 1: it has 1 columns, not 5"},
		{"1,2,2009/01/31,3.45,6,\n", `row 1: it has more than 5 columns: "" after the last`},
		{"1,2,2009/01/31,3.45,6\n1,2", "row 2: unexpected EOF"},
		{"2147483648,2,2009/01/31,3.45,6\n", `row 1: column i is "2147483648": not a number of at most 2147483647`},
		{"1,32768,2009/01/31,3.45,6\n", `row 1: column s is "32768": not a number of at most 32767`},
		{"1x,2,2009/01/31,3.45,6\n", `row 1: column i is "1x": not a number of at most 2147483647`},
		{"-1,2,2009/01/31,3.45,6\n", `row 1: column i is "-1": not a number of at most 2147483647`},
		{"18446744073709551617,2,2009/01/31,3.45,6\n",
			`row 1: column i is "18446744073709551617": not a number of at most 2147483647`},
		{"1,2,2009/02/29,3.45,6\n", `row 1: column d is "2009/02/29": not a date`},
		{"1,2,2009/13/01,3.45,6\n", `row 1: column d is "2009/13/01": not a date`},
		{"1,2,2009/01/00,3.45,6\n", `row 1: column d is "2009/01/00": not a date`},
		{"1,2,2009-01-31,3.45,6\n", `row 1: column d is "2009-01-31": not a date`},
		{"1,2,2009/1/31,3.45,6\n", `row 1: column d is "2009/1/31": not a date`},
		{"1,2,2009/01/31,3.4,6\n", `row 1: column n is "3.4": not an amount with two decimals`},
		{"1,2,2009/01/31,3.456,6\n", `row 1: column n is "3.456": not an amount with two decimals`},
		{"1,2,2009/01/31,3,6\n", `row 1: column n is "3": not an amount with two decimals`},
		{"1,2,2009/01/31,.34,6\n", `row 1: column n is ".34": not an amount with two decimals`},
		{strings.Repeat("1", csvBuffer), "row 1 is longer than 65536 bytes"},
	} {
		csv := iotest.OneByteReader(strings.NewReader(c.csv))
		if len(c.csv) == csvBuffer { // which is looked through again with each piece
			csv = strings.NewReader(c.csv)
		}
		out, err := io.ReadAll(iotest.OneByteReader(newBinaryRows(csv, columns)))
		if c.want == "" {
			assert.NoError(t, err, "%.40q", c.csv)
		} else {
			assert.EqualError(t, err, c.want, "%.40q", c.csv)
		}
		assert.Equal(t, err == nil, strings.HasSuffix(string(out), binaryTrailer), "%.40q is whole", c.csv)
	}
	_, err := io.ReadAll(newBinaryRows(strings.NewReader("5.,7\n"), columns[3:]))
	assert.EqualError(t, err, `row 1: column n is "5.": not an amount with two decimals`)
}

// BenchmarkCopy copies rows of each table both ways: what the server's process works for a row.
func BenchmarkCopy(b *testing.B) {
	conn := tables(b)
	for _, part := range firstParts(b, datagen.Size{Customers: 1_000_000, OrdersPerMonth: 500_000, Products: 50_000}) {
		if part.Table == datagen.Products {
			continue
		}
		var csv bytes.Buffer
		part.WriteTo(&csv)
		rows := bytes.Count(csv.Bytes(), []byte("\n"))
		for _, way := range ways {
			b.Run(string(part.Table)+"/"+way.name, func(b *testing.B) {
				var worked time.Duration
				for b.Loop() {
					_, err := conn.Exec(b.Context(), "TRUNCATE "+string(part.Table))
					require.NoError(b, err)
					before := processorTime(b, conn.PgConn().PID())
					require.NoError(b, way.copy(b, conn, string(part.Table), bytes.NewReader(csv.Bytes())))
					worked += processorTime(b, conn.PgConn().PID()) - before
				}
				b.ReportMetric(float64(worked.Nanoseconds())/float64(b.N)/float64(rows), "server-ns/row")
			})
		}
	}
}

// processorTime is how long processors have worked for a process of this machine, in steps of 10 ms.
func processorTime(b *testing.B, pid uint32) time.Duration {
	p, err := procfs.NewProc(int(pid))
	if err != nil {
		b.Skip(err)
	}
	stat, err := p.Stat()
	require.NoError(b, err)
	return time.Duration(stat.CPUTime() * float64(time.Second))
}

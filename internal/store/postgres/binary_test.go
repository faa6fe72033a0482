package postgres

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/schema"
)

// ways are how rows may be copied: typed, as the server's binary format, or from files, as CSV.
var ways = []string{"binary", "csv"}

// copyRows copies a part one of the ways.
func copyRows(t testing.TB, conn *pgx.Conn, part datagen.Part, way string) {
	t.Helper()
	if way == "csv" {
		part.Open = nil
	}
	told := int64(0)
	c := store.Copy{Table: string(part.Table), Parts: []datagen.Part{part}, Told: func(n int64) {
		told += n
	}}
	n, err := copyFrom(t.Context(), conn, c)
	require.NoError(t, err, "%s, %s", part.File, way)
	require.Equal(t, n, told, "%s, %s: rows that were told of", part.File, way)
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
	for _, part := range firstParts(t, datagen.S) {
		var sums []string
		for _, way := range ways {
			copyRows(t, conn, part, way)
			const ask = `SELECT count(*) || ' rows, sum ' || sum(hashtextextended(r::text || pg_column_size(r), 0))
				FROM %s r`
			var sum string
			require.NoError(t, conn.QueryRow(t.Context(), fmt.Sprintf(ask, part.Table)).Scan(&sum))
			sums = append(sums, sum)
			_, err := conn.Exec(t.Context(), "TRUNCATE "+string(part.Table))
			require.NoError(t, err)
		}
		assert.Equal(t, sums[0], sums[1], part.File)
	}
}

// values are rows for tests.
type values [][]datagen.Value

// next is a datagen.Rows.
func (v *values) next() (row []datagen.Value) {
	if len(*v) > 0 {
		row = (*v)[0]
		*v = (*v)[1:]
	}
	return row
}

// TestBinaryRows gives rows that no dataset of DS2 has.
func TestBinaryRows(t *testing.T) {
	const table = "CREATE TABLE v (s smallint, b bigint, d date, n numeric, t text, x bytea)"
	conn := connection(t, pgtest.Database(t), table)
	rows := values{
		{{Int: -32768}, {Int: math.MinInt64}, {Int: -1}, {Int: -5}, {}, {Text: []byte{0}}},
		{
			{Int: 32767},
			{Int: 1 << 40},
			{Int: 10_957},
			{Int: 1_234_567_89},
			{Text: []byte(`\,"`)},
			{Text: []byte{}},
		},
	}
	open := func() datagen.Rows { return rows.next }
	c := store.Copy{
		Table: "v",
		Parts: []datagen.Part{{Open: open}, {Open: open}},
		Told:  func(int64) {},
	}
	_, err := copyFrom(t.Context(), conn, c)
	require.NoError(t, err)
	var got string
	require.NoError(
		t,
		conn.QueryRow(t.Context(), "SELECT string_agg(v::text, ' ') FROM v").Scan(&got),
	)
	assert.Equal(t, `(-32768,-9223372036854775808,1969-12-31,-0.05,,"\\x00")`+
		` (32767,1099511627776,2000-01-01,1234567.89,"\\,""","\\x")`, got)

	rows = values{{{Int: 32768}, {}, {}, {}, {}, {}}}
	_, err = copyFrom(t.Context(), conn, c)
	assert.ErrorContains(t, err, "column s: 32768 is out of its range")
}

// BenchmarkRows makes rows and puts them into the binary format: nanoseconds and allocations, which
// must not grow with the rows.
func BenchmarkRows(b *testing.B) {
	conn := tables(b)
	for _, part := range firstParts(b, datagen.M) {
		columns, err := columnsOf(b.Context(), conn, string(part.Table))
		require.NoError(b, err)
		b.Run(part.File, func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 65_531)
			rows := int64(0)
			for b.Loop() {
				r := newBinaryRows([]datagen.Part{part}, columns, func(n int64) { rows += n })
				for err = nil; err == nil; {
					_, err = r.Read(buf)
				}
				require.Equal(b, io.EOF, err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
			b.ReportMetric(float64(rows)/float64(b.N), "rows/op")
		})
	}
}

func TestNumeric(t *testing.T) {
	for _, test := range []struct {
		hundredths int64
		// Digits, weight, sign, places, then the digits: what PostgreSQL's numeric_send gives, but
		// for leading noughts.
		wire string
	}{
		{0, "0001ffff000000020000"},
		{1, "0001ffff000000020064"},
		{99, "0001ffff0000000226ac"},
		{100, "00020000000000020001" + "0000"},
		{12345, "0002000000000002007b" + "1194"},
		{-12345, "0002000040000002007b" + "1194"},
		{1_000_000, "00030001000000020001" + "0000" + "0000"},
		{math.MaxInt64, ""},
		{-math.MaxInt64, ""},
	} {
		wire := appendNumeric(nil, test.hundredths)
		if test.wire != "" {
			assert.Equal(t, test.wire, hex.EncodeToString(wire), test.hundredths)
		}
		back, ok := ParseNumeric(wire)
		assert.True(
			t,
			ok && back == test.hundredths,
			"%d read back: %d, %v",
			test.hundredths,
			back,
			ok,
		)
	}
}

func TestParseNumericOfTheServer(t *testing.T) {
	for _, test := range []struct {
		wire string
		want int64
		bad  bool
	}{
		{"0000000000000002", 0, false},             // 0: no digit at all
		{"0001ffff0000000226ac", 99, false},        // 0.99
		{"00010000000000020005", 500, false},       // 5.00: trailing noughts are left out
		{"00010001000000020003", 3_000_000, false}, // 30000.00
		{"0002000000000002001426ac", 2099, false},  // 20.99
		{"00010000c00000000000", 0, true},          // not a number
		{"0001fffe000000080001", 0, true},          // 0.00000001
		{"0002000000000002", 0, true},              // cut short
		{"00", 0, true},
	} {
		wire, err := hex.DecodeString(test.wire)
		require.NoError(t, err)
		got, ok := ParseNumeric(wire)
		assert.True(t, got == test.want && ok != test.bad, "%s: got %d, %v", test.wire, got, ok)
	}
}

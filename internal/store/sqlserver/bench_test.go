package sqlserver_test

import (
	"fmt"
	"io"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/store/sqlserver"
	"ds2/internal/store/sqlserver/servertest"
	"ds2/schema"
)

// BenchmarkCopy loads the same 400,000 customers in transactions of several sizes, one after the other, into a table
// that has its clustered key and nothing else, as a load does.
func BenchmarkCopy(b *testing.B) {
	target, err := url.Parse(servertest.Database(b))
	require.NoError(b, err)
	opened, err := sqlserver.Open(target)
	require.NoError(b, err)
	b.Cleanup(func() { opened.Close() })
	s := opened.(*sqlserver.Store)
	size := datagen.Size{Customers: 400_000, OrdersPerMonth: 1, Products: 1}
	params := schema.Params{Database: s.Name(), Customers: int64(size.Customers), OrdersPerMonth: 1, Products: 1}
	_, err = s.Adapt(b.Context(), &params)
	require.NoError(b, err)
	statements, err := schema.Statements(s.Engine(), schema.Database, params)
	require.NoError(b, err)
	require.NoError(b, s.CreateDatabase(b.Context(), statements))
	statements, err = schema.Statements(s.Engine(), schema.Tables, params)
	require.NoError(b, err)
	for _, statement := range statements {
		_, err := s.DB().ExecContext(b.Context(), statement.SQL)
		require.NoError(b, err)
	}
	for _, rows := range []int{10_000, 50_000, 200_000} { // a file holds 200,000
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			data, err := datagen.New(size, datagen.DefaultWords(), datagen.Options{PartRows: rows})
			require.NoError(b, err)
			copied := 0
			for b.Loop() {
				for _, part := range data.Parts() {
					if part.Table != datagen.Customers {
						continue
					}
					r, w := io.Pipe()
					go func() {
						_, err := part.WriteTo(w)
						w.CloseWithError(err)
					}()
					copied++
					step := fmt.Sprintf("%d of %d", copied, rows)
					_, err := s.LoadRows(b.Context(), step, string(part.Table), r)
					require.NoError(b, err)
				}
				b.StopTimer()
				_, err := s.DB().ExecContext(b.Context(), "TRUNCATE TABLE CUSTOMERS")
				require.NoError(b, err)
				b.StartTimer()
			}
			b.ReportMetric(float64(size.Customers)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

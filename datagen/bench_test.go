package datagen_test

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
)

// BenchmarkTable writes a part of each table of size M: bytes a second, nanoseconds a row, and
// allocations, which must not grow with the rows.
func BenchmarkTable(b *testing.B) {
	data, err := datagen.New(datagen.M, datagen.DefaultWords(), datagen.Options{PartRows: 100_000})
	require.NoError(b, err)
	for _, file := range []string{
		"us_cust.csv", "row_cust.csv", "jan_orders.csv", "jan_orderlines.csv", "jan_cust_hist.csv",
		"prod.csv", "inv.csv",
	} {
		b.Run(file, func(b *testing.B) {
			all := data.Parts()
			part := all[slices.IndexFunc(all, func(p datagen.Part) bool { return p.File == file })]
			var csv bytes.Buffer
			size, err := part.WriteTo(&csv)
			require.NoError(b, err)
			rows := bytes.Count(csv.Bytes(), []byte("\n"))
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				part.WriteTo(io.Discard)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
			b.ReportMetric(float64(rows), "rows/op")
		})
	}
}

package datagen_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
)

// BenchmarkTable writes a part of each table of size M: bytes a second, nanoseconds a row, and allocations, which must
// not grow with the rows.
func BenchmarkTable(b *testing.B) {
	data, err := datagen.New(datagen.M, datagen.DefaultWords(), datagen.Options{PartRows: 100_000})
	require.NoError(b, err)
	for _, file := range []string{
		"us_cust.csv", "row_cust.csv", "jan_orders.csv", "jan_orderlines.csv", "jan_cust_hist.csv",
		"prod.csv", "inv.csv",
	} {
		b.Run(file, func(b *testing.B) {
			var part datagen.Part
			for _, p := range data.Parts() {
				if p.File == file {
					part = p
					break
				}
			}
			rows, size := measurePart(b, part)
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

func measurePart(b *testing.B, p datagen.Part) (rows int, size int64) {
	var c lineCounter
	size, err := p.WriteTo(&c)
	require.NoError(b, err)
	return int(c), size
}

// lineCounter counts the lines written to it.
type lineCounter int

func (c *lineCounter) Write(p []byte) (int, error) {
	*c += lineCounter(bytes.Count(p, []byte{'\n'}))
	return len(p), nil
}

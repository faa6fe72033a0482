package datagen_test

import (
	"bufio"
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
)

// Rows are the same whatever they are written to: a buffer that is nearly full when rows come, or
// one that is lent.
func TestWriters(t *testing.T) {
	data, err := datagen.New(datagen.S, datagen.DefaultWords(), datagen.Options{})
	require.NoError(t, err)
	for _, p := range data.Parts() {
		var want, buffered bytes.Buffer
		_, err := p.WriteTo(&want)
		require.NoError(t, err)
		for _, size := range []int{16, 1000, 64 << 10, 256 << 10, 1 << 20} {
			buffered.Reset()
			b := bufio.NewWriterSize(&buffered, size)
			n, err := p.WriteTo(b)
			same := err == nil && b.Flush() == nil && bytes.Equal(buffered.Bytes(), want.Bytes())
			require.True(
				t,
				same && n == int64(want.Len()),
				"%s: a buffer of %d bytes, %v",
				p.File,
				size,
				err,
			)
		}
		lent := lender{}
		n, err := p.WriteTo(&lent)
		same := err == nil && bytes.Equal(lent.got, want.Bytes())
		require.True(t, same && n == int64(want.Len()), "%s: lent buffers, %v", p.File, err)
	}
}

// Typed rows say what the CSV says.
func TestTypedRows(t *testing.T) {
	columns := map[datagen.Table]string{ // whole numbers, days, amounts and texts
		datagen.Customers:  "ittttttttittittttiit",
		datagen.Orders:     "idiaaa",
		datagen.OrderLines: "iiiid",
		datagen.CustHist:   "iii",
		datagen.Products:   "iittaii",
		datagen.Inventory:  "iii",
	}
	odd := datagen.Size{Customers: 1_234, OrdersPerMonth: 77, Products: 100_100}
	for _, size := range []datagen.Size{datagen.S, odd} {
		options := datagen.Options{PartRows: 5_000, Seed: uint64(size.Products)}
		data, err := datagen.New(size, datagen.DefaultWords(), options)
		require.NoError(t, err)
		for _, p := range data.Parts() {
			var csv, typed bytes.Buffer
			_, err := p.WriteTo(&csv)
			require.NoError(t, err)
			rows := p.Open()
			for row := rows(); row != nil; row = rows() {
				for i, v := range row {
					switch columns[p.Table][i] {
					case 'i':
						fmt.Fprintf(&typed, ",%d", v.Int)
					case 'd':
						typed.WriteString(time.Unix(24*60*60*v.Int, 0).UTC().Format(",2006/01/02"))
					case 'a':
						fmt.Fprintf(&typed, ",%d.%02d", v.Int/100, v.Int%100)
					default:
						fmt.Fprintf(&typed, ",%s", v.Text)
					}
				}
				typed.WriteByte('\n')
			}
			want := bytes.ReplaceAll(csv.Bytes(), []byte(", 9.99"), []byte(",9.99"))
			got := bytes.ReplaceAll(typed.Bytes(), []byte("\n,"), []byte("\n"))
			require.True(
				t,
				bytes.Equal(want, bytes.TrimPrefix(got, []byte(","))),
				"%s of %s",
				p.File,
				size,
			)
		}
	}
}

// lender lends the least that a lender must.
type lender struct{ lent, got []byte }

func (l *lender) Lend() []byte {
	l.lent = make([]byte, 0, 64<<10)
	return l.lent
}

func (l *lender) Write(p []byte) (int, error) {
	if &p[:1][0] != &l.lent[:1][0] {
		panic("rows lie elsewhere than in the buffer that was lent")
	}
	l.got = append(l.got, p...)
	return len(p), nil
}

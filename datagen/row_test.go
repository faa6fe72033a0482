package datagen_test

import (
	"bufio"
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
)

// Rows are the same whatever they are written to: a buffer that is nearly full when rows come, or one that is lent.
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
			if n, err := p.WriteTo(b); err != nil || n != int64(want.Len()) {
				t.Fatalf("%s: %d bytes, %v", p.File, n, err)
			}
			if b.Flush(); !bytes.Equal(buffered.Bytes(), want.Bytes()) {
				t.Errorf("%s: other rows through a buffer of %d bytes", p.File, size)
			}
		}
		lent := lender{}
		if n, err := p.WriteTo(&lent); err != nil || n != int64(want.Len()) || !bytes.Equal(lent.got, want.Bytes()) {
			t.Errorf("%s: %d bytes in lent buffers, %v; want %d", p.File, n, err, want.Len())
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

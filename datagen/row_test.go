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
			n, err := p.WriteTo(b)
			same := err == nil && b.Flush() == nil && bytes.Equal(buffered.Bytes(), want.Bytes())
			require.True(t, same && n == int64(want.Len()), "%s: a buffer of %d bytes, %v", p.File, size, err)
		}
		lent := lender{}
		n, err := p.WriteTo(&lent)
		same := err == nil && bytes.Equal(lent.got, want.Bytes())
		require.True(t, same && n == int64(want.Len()), "%s: lent buffers, %v", p.File, err)
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

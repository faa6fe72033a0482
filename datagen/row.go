package datagen

import (
	"encoding/binary"
	"io"
	"math/bits"
)

const (
	bufferSize = 256 << 10
	maxRow     = 512 // bytes that the longest thing written at once may take: an order's nine lines
)

// rowWriter collects rows and hands them on in large writes.
type rowWriter struct {
	w       io.Writer
	buf     []byte
	n       int // bytes of buf in use
	written int64
	newline uint16 // one or two bytes, little-endian
	eol     int    // how many
}

func newRowWriter(w io.Writer, crlf bool) *rowWriter {
	r := &rowWriter{w: w, buf: make([]byte, bufferSize), newline: '\n', eol: 1}
	if crlf {
		r.newline, r.eol = '\r'|'\n'<<8, 2
	}
	return r
}

// room gives a place for maxRow bytes; the caller adds what it used to n.
func (r *rowWriter) room() (*[maxRow]byte, error) {
	if len(r.buf)-r.n < maxRow {
		if err := r.flush(); err != nil {
			return nil, err
		}
	}
	return (*[maxRow]byte)(r.buf[r.n:]), nil
}

// end puts the end of a line at b[n:] and takes the row over.
func (r *rowWriter) flush() error {
	n, err := r.w.Write(r.buf[:r.n])
	r.written += int64(n)
	r.n = 0
	return err
}

// digits8 is v < 10^8 as eight ASCII digits, the first in the lowest byte: the number is split by 10^4, 10^2 and 10 with
// multiplications, side by side in one word.
func digits8(v uint64) uint64 {
	x := v/10000 | v%10000<<32
	t := x * 10486 >> 20 & 0x7f_0000007f
	x = t | (x-100*t)<<16
	t = x * 103 >> 10 & 0xf_000f_000f_000f
	x = t | (x-10*t)<<8
	return x | 0x3030303030303030
}

// putFixed8 writes v < 10^8 as eight digits.
func putFixed8(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, digits8(v)) }

// putUint writes v in as many digits as it needs at b[n:], may touch eight bytes, and returns the place after.
func putUint(b *[maxRow]byte, n int, v uint64) int {
	if v >= 1e8 {
		n = putUint(b, n, v/1e8)
		putFixed8(b[n:], v%1e8)
		return n + 8
	}
	d := digits8(v)
	zeros := bits.TrailingZeros64(d&0x0f0f0f0f0f0f0f0f|1<<56) &^ 7
	binary.LittleEndian.PutUint64(b[n:], d>>zeros)
	return n + 8 - zeros/8
}

// put2 writes v < 100 as two digits.
func put2(b []byte, v uint64) {
	t := v * 103 >> 10
	binary.LittleEndian.PutUint16(b, uint16(0x3030|t|(v-10*t)<<8))
}

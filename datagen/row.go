package datagen

import (
	"encoding/binary"
	"io"
	"math/bits"
)

const (
	bufferSize = 64 << 10
	maxRow     = 512 // bytes that the longest thing written at once may take: an order's nine lines
)

// rowWriter collects rows and hands them on in large writes.
type rowWriter struct {
	w       io.Writer
	lender  Lender // w, where it lends its own buffers; else nil
	buf     []byte
	n       int // bytes of buf in use
	written int64
	newline uint16 // one or two bytes, little-endian
	eol     int    // how many
}

// Lender is a writer that lends rows its own buffer, so that what is written is in its place
// already. Lend gives an empty one with a capacity of at least 64 KiB; what was put into it is
// handed to Write, and then another one is lent.
type Lender interface {
	io.Writer
	Lend() []byte
}

type rowFunc struct {
	write func(*rowWriter) error
	crlf  bool
}

// WriteTo writes the rows to w, in pieces that end with a row.
func (f rowFunc) WriteTo(w io.Writer) (int64, error) {
	r := &rowWriter{w: w, newline: '\n', eol: 1}
	if r.lender, _ = w.(Lender); r.lender != nil {
		r.borrowBlock()
	} else {
		r.buf = make([]byte, bufferSize)
	}
	if f.crlf {
		r.newline = '\r' | '\n'<<8
		r.eol = 2
	}
	err := f.write(r)
	if err == nil {
		err = r.flushBlock()
	}
	return r.written, err
}

// rowSpace gives a place for maxRow bytes; the caller adds what it used to n.
func (r *rowWriter) rowSpace() (*[maxRow]byte, error) {
	if len(r.buf)-r.n < maxRow {
		if err := r.flushBlock(); err != nil {
			return nil, err
		}
	}
	return (*[maxRow]byte)(r.buf[r.n:]), nil
}

// flushBlock hands the rows on that are in the buffer, and takes another one from a writer that
// lends its own.
func (r *rowWriter) flushBlock() error {
	n, err := r.w.Write(r.buf[:r.n])
	r.written += int64(n)
	r.n = 0
	if r.lender != nil && err == nil {
		r.borrowBlock()
	}
	return err
}

// borrowBlock takes the writer's own buffer, with all of its room.
func (r *rowWriter) borrowBlock() {
	buf := r.lender.Lend()
	r.buf = buf[:cap(buf)]
}

// writeRows writes rows of numbers and texts, and amounts in a column for the price, which DS2
// prints five characters wide; -1: there is none.
func (r *rowWriter) writeRows(rows Rows, price int) error {
	for row := rows(); row != nil; row = rows() {
		b, err := r.rowSpace()
		if err != nil {
			return err
		}
		n := 0
		for column, v := range row {
			switch {
			case column == price && v.Int < 10_00:
				n += copy(b[n:], ", 9.99")
				continue
			case column == price:
				n = putMoney(b, n, uint64(v.Int))
				continue
			case column > 0:
				b[n] = ','
				n++
			}
			if v.Text != nil {
				n += copy(b[n:], v.Text)
			} else {
				n = putUint(b, n, uint64(v.Int))
			}
		}
		binary.LittleEndian.PutUint16(b[n:], r.newline)
		r.n += n + r.eol
	}
	return nil
}

// fourDigits holds the numbers below 10,000 as four ASCII digits each, the first in the lowest
// byte.
var fourDigits = func() (t [10_000]uint32) {
	for v := range uint32(len(t)) {
		t[v] = '0' + v/1000 | ('0'+v/100%10)<<8 | ('0'+v/10%10)<<16 | ('0'+v%10)<<24
	}
	return t
}()

// eightDigits is v < 10^8 as eight ASCII digits, the first in the lowest byte.
func eightDigits(v uint64) uint64 {
	high := v / 10_000
	return uint64(fourDigits[high]) | uint64(fourDigits[v-high*10_000])<<32
}

// putFixed8 writes v < 10^8 as eight digits.
func putFixed8(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, eightDigits(v)) }

// putUint writes v in as many digits as it needs at b[n:], may touch eight bytes more, and returns
// the place after.
func putUint(b *[maxRow]byte, n int, v uint64) int {
	if v < 1e8 {
		return putShort(b, n, v)
	}
	n = putUint(b, n, v/1e8)
	putFixed8(b[n:], v%1e8)
	return n + 8
}

// putShort is putUint for v < 10^8.
func putShort(b *[maxRow]byte, n int, v uint64) int {
	d := eightDigits(v)
	zeros := bits.TrailingZeros64(
		d&0x0f0f0f0f0f0f0f0f|1<<56,
	) &^ 7 // bits of leading zeros; the last digit stays
	binary.LittleEndian.PutUint64(b[n:], d>>zeros)
	return n + 8 - zeros/8
}

// putTwoDigits writes v < 100 as two digits.
func putTwoDigits(b []byte, v uint64) {
	t := v * 103 >> 10
	binary.LittleEndian.PutUint16(b, uint16(0x3030|t|(v-10*t)<<8))
}

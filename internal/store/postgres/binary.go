package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// binaryRows turns the dataset's CSV into the format of COPY … (FORMAT binary), for tables that have no texts:
// numbers, dates and amounts cost the server several times what they cost here. Nothing is allocated for a row. What is
// no row of a dataset is refused.
type binaryRows struct {
	csv     io.Reader
	columns []column
	in      []byte // csvBuffer bytes, of which the first rest are those of a row that is not whole yet, and slack
	rest    int
	row     int64  // of the CSV, from 1
	out     []byte // what is to be read
	sent    int    // of out
	end     error  // after out
	month   monthMemo
}

type column struct {
	name string
	kind kind
}

// kind is how a column is written.
type kind byte

const (
	smallint kind = iota
	integer
	date
	numeric // of two decimal places
)

var kinds = map[uint32]kind{
	pgtype.Int2OID: smallint, pgtype.Int4OID: integer, pgtype.DateOID: date, pgtype.NumericOID: numeric,
}

// binaryColumns are the columns of a table; none where it has one that is none of the kinds.
func binaryColumns(ctx context.Context, conn *pgx.Conn, table string) ([]column, error) {
	described, err := conn.PgConn().Prepare(ctx, "", "SELECT * FROM "+quote(table), nil)
	if err != nil {
		return nil, err
	}
	var columns []column
	for _, field := range described.Fields {
		kind, ok := kinds[field.DataTypeOID]
		if !ok {
			return nil, nil
		}
		columns = append(columns, column{field.Name, kind})
	}
	return columns, nil
}

const (
	// The signature, flags and the length of an extension.
	binaryHeader  = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"
	binaryTrailer = "\xff\xff"
	csvBuffer     = 64 << 10
	slack         = 16 // bytes that may be looked at behind a row
	maxField      = 24 // bytes that a column may take, its length included: a numeric of six digits
)

func newBinaryRows(csv io.Reader, columns []column) *binaryRows {
	return &binaryRows{
		csv: csv, columns: columns, in: make([]byte, csvBuffer+slack),
		out: append(make([]byte, 0, 2*csvBuffer), binaryHeader...),
	}
}

// Read is of io.Reader.
func (b *binaryRows) Read(p []byte) (int, error) {
	for b.sent == len(b.out) {
		if b.end != nil {
			return 0, b.end
		}
		b.out, b.sent = b.out[:0], 0
		b.end = b.fill()
	}
	n := copy(p, b.out[b.sent:])
	b.sent += n
	return n, nil
}

// fill turns what the CSV has next. Its error is what comes after the rows in out.
func (b *binaryRows) fill() error {
	n, err := b.csv.Read(b.in[b.rest:csvBuffer])
	n += b.rest
	from, whole := 0, bytes.LastIndexByte(b.in[:n], '\n')+1
	for from < whole {
		b.row++
		length, err := b.add(b.in[from:])
		if err != nil {
			return fmt.Errorf("row %d: %w", b.row, err)
		}
		from += length
	}
	b.rest = copy(b.in, b.in[whole:n])
	switch {
	case err == io.EOF && b.rest > 0:
		return fmt.Errorf("row %d: %w", b.row+1, io.ErrUnexpectedEOF)
	case err == io.EOF:
		b.out = append(b.out, binaryTrailer...)
	case err == nil && b.rest == csvBuffer:
		return fmt.Errorf("row %d is longer than %d bytes", b.row+1, csvBuffer)
	}
	return err
}

// add appends the row that in begins with, and returns its length. At least slack bytes are behind its end.
func (b *binaryRows) add(in []byte) (length int, err error) {
	b.out = slices.Grow(b.out, 2+maxField*len(b.columns))
	out, n := b.out[:cap(b.out)], len(b.out)+2
	binary.BigEndian.PutUint16(out[n-2:], uint16(len(b.columns)))
	at := 0
	for i := range b.columns {
		from := at
		ok := true
		switch c := in[at]; {
		case c == ',' || c == '\n' || c == '\r':
			binary.BigEndian.PutUint32(out[n:], math.MaxUint32) // NULL
			n += 4
		case b.columns[i].kind == numeric:
			var units, cents uint64
			units, at = digits(in, at)
			ok = at > from && in[at] == '.'
			cents, at = digits(in, at+1)
			ok = ok && at-from >= len("0.00") && in[at-3] == '.' && units < 1e15
			n = putAmount(out, n, units, cents)
		case b.columns[i].kind == date:
			var days int32
			days, ok = b.month.day((*[len("2009/01/31")]byte)(in[at:]))
			at += len("2009/01/31")
			binary.BigEndian.PutUint64(out[n:], 4<<32|uint64(uint32(days)))
			n += 8
		case b.columns[i].kind == smallint:
			var v uint64
			v, at = digits(in, at)
			ok = at > from && v <= math.MaxInt16
			binary.BigEndian.PutUint64(out[n:], 2<<32|v<<16)
			n += 6
		default:
			var v uint64
			v, at = digits(in, at)
			ok = at > from && v <= math.MaxInt32
			binary.BigEndian.PutUint64(out[n:], 4<<32|v)
			n += 8
		}
		last := i == len(b.columns)-1
		if last && in[at] == '\r' {
			at++
		}
		if ok && (in[at] == ',' && !last || in[at] == '\n' && last) {
			at++
			continue
		}
		return 0, b.refuse(i, in[from:])
	}
	b.out = out[:n]
	return at, nil
}

var errKinds = map[kind]error{
	smallint: errors.New("not a number of at most 32767"),
	integer:  errors.New("not a number of at most 2147483647"),
	date:     errors.New("not a date"),
	numeric:  errors.New("not an amount with two decimals"),
}

// refuse says what is wrong with the row of which the rest begins with a column.
func (b *binaryRows) refuse(column int, rest []byte) error {
	row, _, _ := bytes.Cut(rest, []byte{'\n'})
	field, more, comma := bytes.Cut(bytes.TrimSuffix(row, []byte{'\r'}), []byte{','})
	missing := len(b.columns) - 1 - column
	switch {
	case !comma && missing > 0:
		return fmt.Errorf("it has %d columns, not %d", column+1, len(b.columns))
	case comma && missing == 0:
		return fmt.Errorf("it has more than %d columns: %q after the last", len(b.columns), more)
	}
	return fmt.Errorf("column %s is %.40q: %w", b.columns[column].name, field, errKinds[b.columns[column].kind])
}

// digits reads the digits at in[at:], of which there may be none, and returns the place after them: it looks at eight
// bytes at a time. More than sixteen digits are cut short, where no separator stands.
func digits(in []byte, at int) (v uint64, next int) {
	v, n := digits8(in[at:])
	if n < 8 {
		return v, at + n
	}
	low, n := digits8(in[at+8:])
	return v*powers[n] + low, at + 8 + n
}

// powers are those of ten.
var powers = [9]uint64{1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// digits8 reads at most eight digits, and says how many there are.
func digits8(in []byte) (v uint64, n int) {
	const zeros, tops = 0x3030303030303030, 0x8080808080808080
	x := binary.LittleEndian.Uint64(in) ^ zeros // digits are 0 to 9 now, in a byte each, the first in the lowest
	n = bits.TrailingZeros64((x+0x7676767676767676|x)&tops) / 8
	x <<= 64 - 8*n // what remains are the digits, with zeros before them
	x = x * (10<<8 + 1) >> 8 & 0x00ff00ff00ff00ff
	x = x * (100<<16 + 1) >> 16 & 0x0000ffff0000ffff
	x = x * (10000<<32 + 1) >> 32
	return x, n
}

// putAmount writes an amount as appendNumeric does, and returns the place after.
func putAmount(out []byte, n int, units, cents uint64) int {
	if units >= 10000 {
		end := appendNumeric(out[:n+4], int64(100*units+cents))
		binary.BigEndian.PutUint32(out[n:], uint32(len(end)-n-4))
		return len(end)
	}
	binary.BigEndian.PutUint32(out[n:], 12)
	// Two digits of base 10000, the first of them the units; two decimals.
	binary.BigEndian.PutUint64(out[n+4:], 2<<48|2)
	binary.BigEndian.PutUint32(out[n+12:], uint32(units<<16|100*cents)) // the server drops zeros
	return n + 16
}

// monthMemo turns dates into days. It keeps the last month: a file has but one.
type monthMemo struct {
	text [len("2009/01/")]byte
	days int32 // of the day before the first, after 2000-01-01, from which the server counts
	long int32
}

// day is the number of a date such as 2009/01/31.
func (m *monthMemo) day(date *[10]byte) (days int32, ok bool) {
	if month := [8]byte(date[:8]); month != m.text || m.long == 0 {
		first, err := time.Parse("2006/01/02", string(date[:8])+"01")
		if err != nil {
			return 0, false
		}
		m.text, m.long = month, int32(first.AddDate(0, 1, -1).Day())
		m.days = int32(first.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))/(24*time.Hour)) - 1
	}
	tens, ones := date[8]-'0', date[9]-'0'
	day := 10*int32(tens) + int32(ones)
	return m.days + day, tens <= 9 && ones <= 9 && 1 <= day && day <= m.long
}

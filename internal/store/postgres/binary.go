package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"ds2/datagen"
)

// binaryRows are the rows of parts in the format of COPY … (FORMAT binary), which costs the server
// less than text, without what stands before the first and after the last. Nothing is allocated for
// a row.
type binaryRows struct {
	parts   []datagen.Part // still to be opened
	rows    datagen.Rows
	row     []datagen.Value // the next one; nil: there is none
	columns []column
	fixed   int           // bytes that a row may take besides its texts
	told    func(n int64) // told how many rows have been read
}

// column is a column of the table.
type column struct {
	name string
	kind kind
}

// kind is how a column is written.
type kind byte

const (
	text kind = iota // or bytes
	smallint
	integer
	bigint
	date
	numeric // of two decimal places
)

var kinds = map[uint32]kind{
	pgtype.Int2OID:    smallint,
	pgtype.Int4OID:    integer,
	pgtype.Int8OID:    bigint,
	pgtype.DateOID:    date,
	pgtype.NumericOID: numeric,
	pgtype.TextOID:    text,
	pgtype.VarcharOID: text,
	pgtype.BPCharOID:  text,
	pgtype.ByteaOID:   text,
}

// columnsOf asks for the columns of a table.
func columnsOf(ctx context.Context, conn *pgx.Conn, table string) ([]column, error) {
	described, err := conn.PgConn().Prepare(ctx, "", "SELECT * FROM "+quoteName(table), nil)
	if err != nil {
		return nil, err
	}
	var columns []column
	for _, field := range described.Fields {
		kind, ok := kinds[field.DataTypeOID]
		if !ok {
			return nil, fmt.Errorf("column %s of %s is of a type that no row has",
				field.Name, table)
		}
		columns = append(columns, column{field.Name, kind})
	}
	return columns, nil
}

const (
	// The signature, flags and the length of an extension.
	binaryHeader  = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"
	binaryTrailer = "\xff\xff"
	// bytes that a column may take besides its text, its length included: a numeric of six digits
	maxField = 24
)

// newBinaryRows opens the first of the parts, and each other one when the rows before it are read:
// a part that is open holds its generator, and a load has hundreds of them.
func newBinaryRows(parts []datagen.Part, columns []column, told func(int64)) *binaryRows {
	b := &binaryRows{columns: columns, fixed: 2 + maxField*len(columns), told: told}
	b.rows = parts[0].Open()
	b.parts = parts[1:]
	b.nextRow()
	return b
}

// nextRow goes to the next row.
func (b *binaryRows) nextRow() {
	b.row = b.rows()
	for b.row == nil && len(b.parts) > 0 {
		b.rows, b.parts = b.parts[0].Open(), b.parts[1:]
		b.row = b.rows()
	}
}

// Read is of io.Reader. It reads whole rows, for which p must have room.
func (b *binaryRows) Read(p []byte) (n int, err error) {
	count := int64(0)
	defer func() { b.told(count) }()
	for b.row != nil {
		size := b.fixed
		for i := range b.row {
			size += len(b.row[i].Text)
		}
		if n+size > len(p) {
			if n == 0 {
				err = io.ErrShortBuffer
			}
			return n, err
		}
		if n, err = b.putRow(p, n); err != nil {
			return n, err
		}
		count++
		b.nextRow()
	}
	return n, io.EOF
}

// putRow writes the row at out[n:], and returns the place after.
func (b *binaryRows) putRow(out []byte, n int) (int, error) {
	be := binary.BigEndian
	be.PutUint16(out[n:], uint16(len(b.columns)))
	n += 2
	for i := range b.columns {
		value := &b.row[i]
		v := value.Int
		fits := true
		switch b.columns[i].kind {
		case smallint:
			fits = v == int64(int16(v))
			be.PutUint64(out[n:], 2<<32|uint64(uint16(v))<<16)
			n += 6
		case integer:
			fits = v == int64(int32(v))
			be.PutUint64(out[n:], 4<<32|uint64(uint32(v)))
			n += 8
		case bigint:
			be.PutUint32(out[n:], 8)
			be.PutUint64(out[n+4:], uint64(v))
			n += 12
		case date:
			be.PutUint64(out[n:], 4<<32|uint64(uint32(v-epoch)))
			n += 8
		case numeric:
			n = putAmount(out, n, v)
		default:
			if value.Text == nil {
				be.PutUint32(out[n:], math.MaxUint32) // NULL
				n += 4
				continue
			}
			be.PutUint32(out[n:], uint32(len(value.Text)))
			n += 4 + copy(out[n+4:], value.Text)
		}
		if !fits {
			return n, fmt.Errorf("column %s: %d is out of its range", b.columns[i].name, v)
		}
	}
	return n, nil
}

// epoch is the day from which the server counts, 2000-01-01.
const epoch = 10_957

// putAmount writes an amount as appendNumeric does, and returns the place after.
func putAmount(out []byte, n int, cents int64) int {
	if cents < 0 || cents >= 10000_00 {
		end := appendNumeric(out[:n+4], cents)
		binary.BigEndian.PutUint32(out[n:], uint32(len(end)-n-4))
		return len(end)
	}
	units := uint64(cents) / 100
	binary.BigEndian.PutUint32(out[n:], 12)
	// Two digits of base 10000, the first of them the units; two decimals.
	binary.BigEndian.PutUint64(out[n+4:], 2<<48|2)
	decimals := 100 * (uint64(cents) - 100*units) // the server drops zeros
	binary.BigEndian.PutUint32(out[n+12:], uint32(units<<16|decimals))
	return n + 16
}

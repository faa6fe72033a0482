package sqlserver

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// nativeReader cuts rows of bcp's native format into values for bulk load: whole numbers as they stand in memory, little end
// first, and binary columns with two bytes of length before them. Nothing is NULL.
type nativeReader struct {
	in      *bufio.Reader
	columns []column
	row     []any
	fields  [][]byte // as they were read
	rows    int64    // that were read
}

// wholeNumber is the bytes of a type of whole numbers.
var wholeNumber = map[string]int{"SMALLINT": 2, "INT": 4, "BIGINT": 8}

func newNativeReader(in io.Reader, columns []column) (*nativeReader, error) {
	for _, c := range columns {
		if wholeNumber[c.kind] == 0 && c.kind != "VARBINARY" {
			return nil, fmt.Errorf("column %s is of type %s, which rows in binary do not have", c.name, c.kind)
		}
	}
	return &nativeReader{in: bufio.NewReaderSize(in, 64<<10), columns: columns, row: make([]any, len(columns)),
		fields: make([][]byte, len(columns))}, nil
}

// next is the next row, which is valid until next is called again; io.EOF after the last.
func (r *nativeReader) next() ([]any, error) {
	if _, err := r.in.Peek(1); err == io.EOF {
		return nil, io.EOF
	}
	r.rows++
	for i, c := range r.columns {
		size := wholeNumber[c.kind]
		if size == 0 {
			if err := r.read(i, 2); err != nil {
				return nil, err
			}
			size = int(binary.LittleEndian.Uint16(r.fields[i]))
		}
		if err := r.read(i, size); err != nil {
			return nil, err
		}
		field := r.fields[i]
		switch c.kind {
		case "SMALLINT":
			r.row[i] = int64(int16(binary.LittleEndian.Uint16(field)))
		case "INT":
			r.row[i] = int64(int32(binary.LittleEndian.Uint32(field)))
		case "BIGINT":
			r.row[i] = int64(binary.LittleEndian.Uint64(field))
		default:
			r.row[i] = field
		}
	}
	return r.row, nil
}

// read reads n bytes as a field.
func (r *nativeReader) read(field, n int) error {
	r.fields[field] = slices.Grow(r.fields[field][:0], n)[:n]
	_, err := io.ReadFull(r.in, r.fields[field])
	if err == io.EOF && n > 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("read row %d: %w", r.rows, err)
	}
	return nil
}

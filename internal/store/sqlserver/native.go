package sqlserver

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// nativeReader cuts rows of bcp's native format into values for bulk load: whole numbers as they stand in memory, little end
// first, and binary columns with two bytes of length before them. Nothing is NULL.
type nativeReader struct {
	in      *bufio.Reader
	columns []column
	row     []any
	buffer  []byte
	rows    int64 // that were read
}

// wholeNumber is the bytes of a type of whole numbers.
var wholeNumber = map[string]int{"SMALLINT": 2, "INT": 4, "BIGINT": 8}

func newNativeReader(in io.Reader, columns []column) (*nativeReader, error) {
	for _, c := range columns {
		if wholeNumber[c.kind] == 0 && c.kind != "VARBINARY" {
			return nil, fmt.Errorf("column %s is of type %s, which rows in binary do not have", c.name, c.kind)
		}
	}
	return &nativeReader{in: bufio.NewReaderSize(in, 64<<10), columns: columns, row: make([]any, len(columns))}, nil
}

func (r *nativeReader) count() int64 { return r.rows }

// next is the next row, which is valid until next is called again; io.EOF after the last.
func (r *nativeReader) next() ([]any, error) {
	if _, err := r.in.Peek(1); err == io.EOF {
		return nil, io.EOF
	}
	r.rows++
	r.buffer = r.buffer[:0]
	for i, c := range r.columns {
		size := wholeNumber[c.kind]
		if size == 0 {
			length, err := r.take(2)
			if err != nil {
				return nil, r.torn(err)
			}
			size = int(binary.LittleEndian.Uint16(length))
		}
		field, err := r.take(size)
		if err != nil {
			return nil, r.torn(err)
		}
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

// take reads n bytes, which are valid as long as the row.
func (r *nativeReader) take(n int) ([]byte, error) {
	from := len(r.buffer)
	if need := from + n; need > cap(r.buffer) {
		r.buffer = append(make([]byte, 0, 2*need), r.buffer...) // what points to the old one stays good
	}
	r.buffer = r.buffer[:from+n]
	field := r.buffer[from : from+n : from+n]
	_, err := io.ReadFull(r.in, field)
	return field, err
}

// torn is the error of a row that cannot be read to its end.
func (r *nativeReader) torn(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read row %d: %w", r.rows, err)
}

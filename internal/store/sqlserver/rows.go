package sqlserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// column is a column of a table that is being loaded.
type column struct {
	name     string
	kind     string // its type, such as INT
	nullable bool
	text     bool // an empty field is a value
	parse    func(field []byte) (any, error)
}

// rowReader cuts CSV without quotes, such as DS2's, into rows of values for bulk load.
type rowReader struct {
	csv     *bufio.Reader
	columns []column
	row     []any
	rows    int64 // that were read
}

func newRowReader(csv io.Reader, columns []column) (*rowReader, error) {
	for i := range columns {
		switch c := &columns[i]; c.kind {
		case "TINYINT", "SMALLINT", "INT":
			c.parse = parseInt
		case "MONEY":
			c.parse = parseText
		case "DATETIME":
			c.parse = parseDate
		case "VARCHAR", "CHAR":
			c.parse, c.text = parseBytes, true
		default:
			return nil, fmt.Errorf("column %s is of type %s, which the dataset does not have", c.name, c.kind)
		}
	}
	return &rowReader{csv: bufio.NewReaderSize(csv, 64<<10), columns: columns, row: make([]any, len(columns))}, nil
}

// next is the next row, which is valid until next is called again; io.EOF after the last.
func (r *rowReader) next() ([]any, error) {
	line, err := r.csv.ReadSlice('\n')
	if err == io.EOF && len(line) > 0 {
		err = nil // a last line without an end
	}
	if err == io.EOF {
		return nil, io.EOF
	}
	r.rows++
	if err != nil {
		return nil, fmt.Errorf("read row %d: %w", r.rows, err)
	}
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
	for i := range r.columns {
		c := &r.columns[i]
		field := line
		if comma := bytes.IndexByte(line, ','); comma >= 0 {
			field, line = line[:comma], line[comma+1:]
			if i == len(r.columns)-1 {
				return nil, fmt.Errorf("read row %d: more than %d fields", r.rows, len(r.columns))
			}
		} else if i < len(r.columns)-1 {
			return nil, fmt.Errorf("read row %d: %d fields, not %d", r.rows, i+1, len(r.columns))
		}
		switch {
		case len(field) == 0 && c.nullable:
			r.row[i] = nil
		case len(field) == 0 && !c.text:
			return nil, fmt.Errorf("read row %d: column %s is empty", r.rows, c.name)
		default:
			if r.row[i], err = c.parse(field); err != nil {
				return nil, fmt.Errorf("read row %d: column %s: %w", r.rows, c.name, err)
			}
		}
	}
	return r.row, nil
}

// parseBytes is a text as it stands; the row is sent before the buffer changes.
func parseBytes(field []byte) (any, error) {
	if len(field) > 0 && field[0] == '"' {
		return nil, errors.New("fields in quotes are not taken")
	}
	return field, nil
}

// parseText is what go-mssqldb makes an amount of, without the blank before a price below 10.00.
func parseText(field []byte) (any, error) { return string(bytes.TrimLeft(field, " ")), nil }

func parseInt(field []byte) (any, error) {
	n, err := strconv.ParseUint(string(field), 10, 63)
	if err != nil {
		return nil, fmt.Errorf("%q is not a whole number", field)
	}
	return int64(n), nil
}

func parseDate(field []byte) (any, error) {
	date, err := time.Parse("2006/01/02", string(field))
	if err != nil {
		return nil, fmt.Errorf("%q is not a date such as 2009/12/31", field)
	}
	return date, nil
}

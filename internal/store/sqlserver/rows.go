package sqlserver

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
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

// format makes a reader of rows for bulk load of what in holds: next fills one in, whose values are valid until it is
// called again; it is io.EOF after the last.
type format func(in io.Reader, columns []column) (next func(row []any) error, err error)

// eachRow hands each row to take, and counts them.
func eachRow(columns int, next, take func(row []any) error) (n int64, err error) {
	row := make([]any, columns)
	for ; ; n++ {
		if err := next(row); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, fmt.Errorf("read row %d: %w", n+1, err)
		}
		if err := take(row); err != nil {
			return n, err
		}
	}
}

// parsers read the fields of CSV, by the column's type.
var parsers = map[string]func(field []byte) (any, error){
	"TINYINT": parseInt, "SMALLINT": parseInt, "INT": parseInt, "MONEY": parseText, "DATETIME": parseDate,
	"VARCHAR": parseBytes, "CHAR": parseBytes,
}

// fromCSV is the format of CSV without quotes, such as DS2's. An empty field is NULL in a column that may be, an empty
// text in another.
func fromCSV(csv io.Reader, columns []column) (next func(row []any) error, err error) {
	for i := range columns {
		c := &columns[i]
		c.parse, c.text = parsers[c.kind], strings.HasSuffix(c.kind, "CHAR")
		if c.parse == nil {
			return nil, fmt.Errorf("column %s is of type %s, which the dataset does not have", c.name, c.kind)
		}
	}
	in := bufio.NewReaderSize(csv, 64<<10)
	return func(row []any) error {
		line, err := in.ReadSlice('\n')
		if err != nil && !(err == io.EOF && len(line) > 0) { // a last line may lack its end
			return err
		}
		return parseLine(row, bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'}), columns)
	}, nil
}

// parseLine reads the fields of a line.
func parseLine(row []any, line []byte, columns []column) (err error) {
	for i := range columns {
		c, last := &columns[i], i == len(columns)-1
		field, rest, more := bytes.Cut(line, []byte{','})
		switch line = rest; {
		case more && last:
			return fmt.Errorf("more than %d fields", len(columns))
		case !more && !last:
			return fmt.Errorf("%d fields, not %d", i+1, len(columns))
		case len(field) == 0 && c.nullable:
			row[i] = nil
		case len(field) == 0 && !c.text:
			return fmt.Errorf("column %s is empty", c.name)
		default:
			if row[i], err = c.parse(field); err != nil {
				return fmt.Errorf("column %s: %w", c.name, err)
			}
		}
	}
	return nil
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

// wholeNumber is the bytes of a type of whole numbers.
var wholeNumber = map[string]int{"SMALLINT": 2, "INT": 4, "BIGINT": 8}

// fromNative is bcp's native format: whole numbers as they stand in memory, little end first, and binary columns with
// two bytes of length before them. Nothing is NULL.
func fromNative(native io.Reader, columns []column) (next func(row []any) error, err error) {
	for _, c := range columns {
		if wholeNumber[c.kind] == 0 && c.kind != "VARBINARY" {
			return nil, fmt.Errorf("column %s is of type %s, which rows in binary do not have", c.name, c.kind)
		}
	}
	in, fields := bufio.NewReaderSize(native, 64<<10), make([][]byte, len(columns))
	read := func(i, n int) ([]byte, error) {
		fields[i] = slices.Grow(fields[i][:0], n)[:n]
		_, err := io.ReadFull(in, fields[i])
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return fields[i], err
	}
	return func(row []any) error {
		if _, err := in.Peek(1); err == io.EOF {
			return io.EOF
		}
		for i, c := range columns {
			field, err := read(i, cmp.Or(wholeNumber[c.kind], 2))
			if err == nil && c.kind == "VARBINARY" {
				field, err = read(i, int(binary.LittleEndian.Uint16(field)))
			}
			if err != nil {
				return err
			}
			switch c.kind {
			case "SMALLINT":
				row[i] = int64(int16(binary.LittleEndian.Uint16(field)))
			case "INT":
				row[i] = int64(int32(binary.LittleEndian.Uint32(field)))
			case "BIGINT":
				row[i] = int64(binary.LittleEndian.Uint64(field))
			default:
				row[i] = field
			}
		}
		return nil
	}, nil
}

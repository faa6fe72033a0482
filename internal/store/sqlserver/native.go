package sqlserver

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

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

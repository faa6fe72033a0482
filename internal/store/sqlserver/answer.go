package sqlserver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"

	mssql "github.com/microsoft/go-mssqldb"
)

// answer reads the tokens that a server answers a call with: [MS-TDS] 2.2.7.
type answer struct {
	kinds   []columnKind
	values  []Value
	severed bool // the server has closed the connection, or will
}

// columnKind is how a column's values stand in a row.
type columnKind struct {
	token byte
	size  int  // of a fixed type
	money bool // else a whole number, or a text
}

var errShape = errors.New("answer of another shape than was asked for")

// read goes through the tokens of an answer: [MS-TDS] 2.2.7. Its error is errShape where they cannot be followed, and a
// mssql.Error where the server says so.
func (a *answer) read(b []byte, columns int, row func([]Value) error) (err error) {
	defer func() {
		if recover() != nil { // an index past the answer's end
			err = errShape
		}
	}()
	const (
		tokenColumns, tokenRow, tokenNBCRow          = 0x81, 0xD1, 0xD2
		tokenError, tokenReturnStatus, tokenSessions = 0xAA, 0x79, 0xE4
		tokenDone, tokenDoneProc, tokenDoneInProc    = 0xFD, 0xFE, 0xFF
		doneSize, serverError                        = 12, 0x100
	)
	var failed []mssql.Error
	a.kinds, a.values = a.kinds[:0], a.values[:0]
	for len(b) > 0 {
		token := b[0]
		b = b[1:]
		switch token {
		case tokenColumns:
			if b = a.columns(b); columns != AnyColumns && len(a.kinds) != columns && err == nil {
				err = fmt.Errorf("answer of %d columns, not %d", len(a.kinds), columns)
			}
		case tokenRow, tokenNBCRow:
			b = a.row(b, token == tokenNBCRow)
			if (columns != AnyColumns && len(a.kinds) != columns || len(a.kinds) == 0) && err == nil { // before any that are named
				err = errShape
			}
			if err == nil {
				err = row(a.values)
			}
		case tokenDone, tokenDoneProc, tokenDoneInProc:
			if binary.LittleEndian.Uint16(b)&serverError != 0 {
				a.severed = true
			}
			b = b[doneSize:]
		case tokenReturnStatus:
			b = b[4:]
		case tokenSessions:
			b = b[4+binary.LittleEndian.Uint32(b):]
		case tokenError, 0xAB, 0xE3, 0xA9, 0xA4, 0xA5: // and INFO, ENVCHANGE, ORDER, TABNAME, COLINFO
			size := binary.LittleEndian.Uint16(b)
			if token == tokenError {
				failed = append(failed, parseError(b[2:2+size]))
			}
			b = b[2+size:]
		default:
			return fmt.Errorf("%w: token %#x", errShape, token)
		}
	}
	if len(failed) > 0 {
		last := failed[len(failed)-1]
		last.All = failed
		a.severed = a.severed || last.Class >= 20
		return last
	}
	return err
}

// columns reads COLMETADATA: [MS-TDS] 2.2.7.4.
func (a *answer) columns(b []byte) []byte {
	n := int(binary.LittleEndian.Uint16(b))
	b = b[2:]
	a.kinds, a.values = a.kinds[:0], a.values[:0]
	if n == 0xFFFF {
		return b
	}
	for range n {
		k := columnKind{token: b[6]} // after the user's type and flags
		b = b[7:]
		switch k.token {
		case 0x30, 0x32: // tinyint, bit
			k.size = 1
		case 0x34: // smallint
			k.size = 2
		case 0x38: // int
			k.size = 4
		case 0x7F: // bigint
			k.size = 8
		case 0x3C: // money
			k.size, k.money = 8, true
		case 0x7A: // smallmoney
			k.size, k.money = 4, true
		case typeIntN, 0x68, typeMoneyN, 0x6F: // and bit, datetime
			k.money = k.token == typeMoneyN
			b = b[1:]
		case typeVarChar, 0xAF, typeNVarChar, 0xEF: // and char, nchar
			if binary.LittleEndian.Uint16(b) == 0xFFFF {
				panic(errShape) // in parts, which none of the columns is
			}
			b = b[2+5:]
		case typeVarBinary:
			if binary.LittleEndian.Uint16(b) == 0xFFFF {
				panic(errShape)
			}
			b = b[2:]
		default:
			panic(errShape)
		}
		b = b[1+2*int(b[0]):] // its name
		a.kinds = append(a.kinds, k)
		a.values = append(a.values, Value{})
	}
	return b
}

// row reads ROW or NBCROW into values: [MS-TDS] 2.2.7.17, 2.2.7.15.
func (a *answer) row(b []byte, withNulls bool) []byte {
	var nulls []byte
	if withNulls {
		size := (len(a.kinds) + 7) / 8
		nulls, b = b[:size], b[size:]
	}
	for i, k := range a.kinds {
		v := &a.values[i]
		*v = Value{}
		if nulls != nil && nulls[i/8]>>(i%8)&1 != 0 {
			v.Null = true
			continue
		}
		size := k.size
		switch k.token {
		case typeIntN, 0x68, typeMoneyN, 0x6F:
			size = int(b[0])
			b = b[1:]
			v.Null = size == 0
		case typeVarChar, 0xAF, typeNVarChar, 0xEF, typeVarBinary:
			n := binary.LittleEndian.Uint16(b)
			b = b[2:]
			if v.Null = n == 0xFFFF; !v.Null {
				if k.token == typeVarBinary {
					v.Bytes = b[:n:n]
				}
				b = b[n:]
			}
			continue
		}
		switch {
		case k.money && size == 8:
			v.N = int64(binary.LittleEndian.Uint32(b))<<32 | int64(binary.LittleEndian.Uint32(b[4:]))
		case size == 8:
			v.N = int64(binary.LittleEndian.Uint64(b))
		case size == 4:
			v.N = int64(int32(binary.LittleEndian.Uint32(b)))
		case size == 2:
			v.N = int64(int16(binary.LittleEndian.Uint16(b)))
		case size == 1:
			v.N = int64(b[0])
		}
		b = b[size:]
	}
	return b
}

// parseError reads ERROR: [MS-TDS] 2.2.7.10.
func parseError(b []byte) mssql.Error {
	e := mssql.Error{Number: int32(binary.LittleEndian.Uint32(b)), State: b[4], Class: b[5]}
	n := int(binary.LittleEndian.Uint16(b[6:]))
	units := make([]uint16, n)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[8+2*i:])
	}
	e.Message = string(utf16.Decode(units))
	return e
}

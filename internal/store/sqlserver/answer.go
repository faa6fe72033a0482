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
	tokens
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

// errUnnamed is go-mssqldb's own for a statement that failed without an ERROR that says why.
var errUnnamed = mssql.Error{Message: "Request failed but didn't provide reason"}

// Tokens: [MS-TDS] 2.2.7.
const (
	tokenColumns, tokenRow, tokenNBCRow          = 0x81, 0xD1, 0xD2
	tokenError, tokenInfo, tokenEnvChange        = 0xAA, 0xAB, 0xE3
	tokenOrder, tokenTableName, tokenColumnInfo  = 0xA9, 0xA4, 0xA5
	tokenReturnStatus, tokenSessions             = 0x79, 0xE4
	tokenDone, tokenDoneProc, tokenDoneInProc    = 0xFD, 0xFE, 0xFF
	doneMore, doneError, doneAttention, doneLost = 0x1, 0x2, 0x20, 0x100
)

// read goes through the tokens of an answer: [MS-TDS] 2.2.7. Its error is a mssql.Error where the server says so, and
// errShape where the answer is not whole: a last DONE or DONEPROC says that nothing follows, and nothing does.
func (a *answer) read(b []byte, columns int, row func([]Value) error) (err error) {
	var failed []mssql.Error
	var unnamed, ended bool
	a.rest, a.short = b, false
	a.kinds, a.values = a.kinds[:0], a.values[:0]
	for len(a.rest) > 0 && !a.short {
		token := a.byte()
		if ended && token != tokenEnvChange && token != tokenInfo {
			return fmt.Errorf("%w: token %#x after the last", errShape, token)
		}
		switch token {
		case tokenColumns:
			if a.columns(); columns != AnyColumns && len(a.kinds) != columns && err == nil {
				err = fmt.Errorf("answer of %d columns, not %d", len(a.kinds), columns)
			}
		case tokenRow, tokenNBCRow:
			a.row(token == tokenNBCRow)
			other := columns != AnyColumns && len(a.kinds) != columns || len(a.kinds) == 0 // before any that are named
			if other && err == nil {
				err = errShape
			}
			if err == nil && !a.short {
				err = row(a.values)
			}
		case tokenDone, tokenDoneProc, tokenDoneInProc:
			status := a.uint16()
			a.take(2 + 8) // the command, its rows
			a.short = a.short || status&doneAttention != 0
			a.severed = a.severed || status&doneLost != 0
			unnamed = unnamed || status&(doneError|doneLost) != 0
			ended = status&doneMore == 0 && token != tokenDoneInProc
		case tokenReturnStatus:
			a.take(4)
		case tokenSessions:
			a.take(int(a.uint32()))
		case tokenError:
			failed = append(failed, parseError(a.take(int(a.uint16()))))
		case tokenInfo, tokenEnvChange, tokenOrder, tokenTableName, tokenColumnInfo:
			a.take(int(a.uint16()))
		default:
			return fmt.Errorf("%w: token %#x", errShape, token)
		}
	}
	whole := ended && !a.short
	switch {
	case len(failed) > 0:
		last := failed[len(failed)-1]
		last.All = failed
		a.severed = a.severed || last.Class >= 20 || !whole
		return last
	case !whole:
		return fmt.Errorf("%w: it is not whole", errShape)
	case unnamed:
		return errUnnamed
	}
	return err
}

// fixedSize is the bytes of types of a fixed size: tinyint, bit, smallint, int, bigint, money, smallmoney.
var fixedSize = [256]byte{0x30: 1, 0x32: 1, 0x34: 2, 0x38: 4, 0x7F: 8, typeMoney: 8, 0x7A: 4}

// columns reads COLMETADATA: [MS-TDS] 2.2.7.4.
func (a *answer) columns() {
	const none = 0xFFFF    // of columns
	const inParts = 0xFFFF // the size of a type whose values come in parts, which none of the columns is
	n := a.uint16()
	a.kinds, a.values = a.kinds[:0], a.values[:0]
	if n == none {
		return
	}
	for range n {
		a.take(4 + 2) // the user's type, flags
		k := columnKind{token: a.byte()}
		k.size = int(fixedSize[k.token])
		k.money = k.token == typeMoney || k.token == typeMoneyN
		switch k.token {
		case typeIntN, 0x68, typeMoneyN, 0x6F: // and bit, datetime
			a.take(1)
		case typeVarChar, 0xAF, typeNVarChar, 0xEF: // and char, nchar
			a.short = a.short || a.uint16() == inParts
			a.take(5) // the collation
		case typeVarBinary:
			a.short = a.short || a.uint16() == inParts
		default:
			a.short = a.short || k.size == 0
		}
		a.take(2 * int(a.byte())) // its name
		if a.short {
			return
		}
		a.kinds = append(a.kinds, k)
		a.values = append(a.values, Value{})
	}
}

// row reads ROW or NBCROW into values: [MS-TDS] 2.2.7.17, 2.2.7.15.
func (a *answer) row(withNulls bool) {
	var nulls []byte
	if withNulls {
		nulls = a.take((len(a.kinds) + 7) / 8)
	}
	for i, k := range a.kinds {
		v := &a.values[i]
		*v = Value{}
		if len(nulls) > 0 && nulls[i/8]>>(i%8)&1 != 0 {
			v.Null = true
			continue
		}
		size := k.size
		switch k.token {
		case typeIntN, 0x68, typeMoneyN, 0x6F:
			size = int(a.byte())
			v.Null = size == 0
		case typeVarChar, 0xAF, typeNVarChar, 0xEF, typeVarBinary:
			n := a.uint16()
			if v.Null = n == 0xFFFF; !v.Null {
				if b := a.take(int(n)); k.token == typeVarBinary {
					v.Bytes = b[:len(b):len(b)]
				}
			}
			continue
		}
		switch {
		case k.money && size == 8:
			v.N = int64(a.uint32())<<32 | int64(a.uint32()) // its upper half stands first
		case size == 8:
			v.N = int64(a.number(8))
		case size == 4:
			v.N = int64(int32(a.uint32()))
		case size == 2:
			v.N = int64(int16(a.uint16()))
		case size == 1:
			v.N = int64(a.byte())
		default:
			a.short = a.short || size != 0
		}
	}
}

// parseError reads ERROR: [MS-TDS] 2.2.7.10.
func parseError(b []byte) mssql.Error {
	t := tokens{rest: b}
	e := mssql.Error{Number: int32(t.uint32()), State: t.byte(), Class: t.byte()}
	text := t.take(2 * int(t.uint16()))
	units := make([]uint16, len(text)/2)
	_, _ = binary.Decode(text, binary.LittleEndian, units) // there are as many
	e.Message = string(utf16.Decode(units))
	return e
}

// tokens are the bytes of an answer that are yet to be read. Past their end all is zero, and short says that it was
// asked for.
type tokens struct {
	rest  []byte
	short bool
}

// take is the next n bytes, or none where there are fewer.
func (t *tokens) take(n int) []byte {
	if n < 0 || n > len(t.rest) {
		t.rest, t.short = nil, true
		return nil
	}
	taken := t.rest[:n]
	t.rest = t.rest[n:]
	return taken
}

// number is the next n bytes, the lowest first.
func (t *tokens) number(n int) (v uint64) {
	for i, b := range t.take(n) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

func (t *tokens) byte() byte     { return byte(t.number(1)) }
func (t *tokens) uint16() uint16 { return uint16(t.number(2)) }
func (t *tokens) uint32() uint32 { return uint32(t.number(4)) }

package sqlserver

import (
	"encoding/binary"
	"strconv"
	"unicode/utf16"
)

// request is a remote procedure call as it is put together, with room for the header of its first packet: [MS-TDS] 2.2.6.6.
type request struct {
	heads []head // of the statements
	out   []byte
	named bool // the parameters have names, @p1, @p2 and so on
	next  int  // the number of the next parameter
}

// head is what stands before the parameters of a statement.
type head struct {
	bytes []byte
	named bool
}

// The types of parameters and columns: [MS-TDS] 2.2.5.4.
const typeIntN, typeMoneyN, typeVarChar, typeNVarChar = 0x26, 0x6E, 0xA7, 0xE7

// newRequest makes the heads of statements, each with room for the header of its first packet.
func newRequest(statements []Statement) request {
	var r request
	for _, s := range statements {
		h := head{make([]byte, packetHeader), s.Declared != ""}
		if h.named {
			h.bytes = append(h.bytes, queryHead(s.SQL, s.Declared)...)
		} else {
			h.bytes = append(h.bytes, callHead(s.SQL)...)
		}
		r.heads = append(r.heads, h)
	}
	return r
}

// begin starts a call.
func (r *request) begin(statement int) {
	h := &r.heads[statement]
	r.out, r.named, r.next = append(r.out[:0], h.bytes...), h.named, 1
}

func (r *request) int16(v int16) { r.int(int64(v), 2) }
func (r *request) int32(v int32) { r.int(int64(v), 4) }

// callHead is what stands before the parameters of a remote procedure call: [MS-TDS] 2.2.5.3 (headers), 2.2.6.6.
func callHead(procedure string) []byte {
	b := transactionHeader()
	name := utf16.Encode([]rune(procedure))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(name)))
	for _, unit := range name {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return append(b, 0, 0) // no options
}

// queryHead is the same of a text with parameters, by sp_executesql.
func queryHead(statement, declared string) []byte {
	const executeSQL = 10
	b := append(transactionHeader(), 0xFF, 0xFF, executeSQL, 0, 0, 0)
	for _, text := range []string{statement, declared} {
		units := utf16.Encode([]rune(text))
		b = append(b, 0, 0, typeNVarChar)
		b = binary.LittleEndian.AppendUint16(b, uint16(2*len(units)))
		b = append(b, 0, 0, 0, 0, 0) // collation
		b = binary.LittleEndian.AppendUint16(b, uint16(2*len(units)))
		for _, unit := range units {
			b = binary.LittleEndian.AppendUint16(b, unit)
		}
	}
	return b
}

func transactionHeader() []byte {
	b := binary.LittleEndian.AppendUint32(nil, 22) // all headers
	b = binary.LittleEndian.AppendUint32(b, 18)    // this one
	b = binary.LittleEndian.AppendUint16(b, 2)     // transaction descriptor
	b = binary.LittleEndian.AppendUint64(b, 0)     // none
	return binary.LittleEndian.AppendUint32(b, 1)  // one request at a time
}

// name begins a parameter. It has no name, but for one of a text.
func (r *request) name() {
	start := len(r.out)
	r.out = append(r.out, 0)
	if r.named {
		var digits [20]byte
		for _, c := range strconv.AppendInt(append(digits[:0], "@p"...), int64(r.next), 10) {
			r.out = append(r.out, c, 0)
			r.out[start]++
		}
		r.next++
	}
}

// int adds a parameter of so many bytes.
func (r *request) int(v int64, size byte) {
	r.name()
	r.out = append(r.out, 0, typeIntN, size, size)
	for range size {
		r.out = append(r.out, byte(v))
		v >>= 8
	}
}

// text adds a varchar: the columns are, and a comparison with nvarchar could not use their indexes.
func (r *request) text(v []byte) {
	r.name()
	r.out = append(r.out, 0, typeVarChar, 0x40, 0x1F, 0, 0, 0, 0, 0) // at most 8,000 bytes, the database's collation
	r.out = binary.LittleEndian.AppendUint16(r.out, uint16(len(v)))
	r.out = append(r.out, v...)
}

// hundredths adds an amount as money: its upper half stands first.
func (r *request) hundredths(v int64) {
	r.name()
	r.out = append(r.out, 0, typeMoneyN, 8, 8)
	amount := uint64(v * 100)
	r.out = binary.LittleEndian.AppendUint32(r.out, uint32(amount>>32))
	r.out = binary.LittleEndian.AppendUint32(r.out, uint32(amount))
}

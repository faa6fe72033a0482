package sqlserver

import (
	"encoding/binary"
	"slices"
	"strconv"
)

// request is a remote procedure call as it is put together, with room for the header of its first packet: [MS-TDS]
// 2.2.6.6.
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
const typeIntN, typeMoney, typeMoneyN, typeVarBinary, typeVarChar, typeNVarChar = 0x26, 0x3C, 0x6E, 0xA5, 0xA7, 0xE7

// newRequest makes the heads of statements, each with room for the header of its first packet.
func newRequest(statements []Statement) request {
	var r request
	for _, s := range statements {
		h := head{slices.Clone(transactionHeader[:]), s.Declared != ""}
		if h.named {
			h.bytes = appendQuery(h.bytes, []byte(s.SQL), []byte(s.Declared))
		} else {
			h.bytes = appendCall(h.bytes, s.SQL)
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

// beginText starts a call of a text.
func (r *request) beginText(sql, declared []byte) {
	r.out, r.named, r.next = appendQuery(append(r.out[:0], transactionHeader[:]...), sql, declared), true, 1
}

func (r *request) Int16(v int16) { r.int(int64(v), 2) }
func (r *request) Int32(v int32) { r.int(int64(v), 4) }
func (r *request) Int64(v int64) { r.int(v, 8) }

// transactionHeader is what each message begins with, [MS-TDS] 2.2.5.3: the sizes of all headers and of this one, a
// transaction descriptor, which is of none, and one request at a time. There is room for the packet's header before it.
var transactionHeader = [packetHeader + 22]byte{
	packetHeader: 22, packetHeader + 4: 18, packetHeader + 8: 2, packetHeader + 18: 1,
}

// appendCall appends what stands before the parameters of a remote procedure call: [MS-TDS] 2.2.6.6.
func appendCall(b []byte, procedure string) []byte {
	b = binary.LittleEndian.AppendUint16(b, uint16(len(procedure)))
	return append(appendWide(b, []byte(procedure)), 0, 0) // no options
}

// appendQuery appends the same of a text with parameters, by sp_executesql.
func appendQuery(b, sql, declared []byte) []byte {
	const executeSQL = 10
	b = append(b, 0xFF, 0xFF, executeSQL, 0, 0, 0)
	return appendUnicode(appendUnicode(b, sql), declared)
}

// appendWide appends ASCII as Unicode.
func appendWide(b, text []byte) []byte {
	for _, c := range text {
		b = append(b, c, 0)
	}
	return b
}

// appendUnicode appends a parameter without a name, of type nvarchar; what is longer than that may be is sent in one
// part of a longer one: [MS-TDS] 2.2.5.2.3. The text is ASCII.
func appendUnicode(b, text []byte) []byte {
	const most, inParts = 8000, 0xFFFF // bytes
	size, kind := 2*len(text), uint16(inParts)
	if size <= most {
		kind = uint16(size)
	}
	b = binary.LittleEndian.AppendUint16(append(b, 0, 0, typeNVarChar), kind)
	b = append(b, 0, 0, 0, 0, 0) // collation
	if kind != inParts {
		return appendWide(binary.LittleEndian.AppendUint16(b, uint16(size)), text)
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	return append(appendWide(b, text), 0, 0, 0, 0) // no further part
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

// Text adds a varchar of the database's collation: the columns are, and a comparison with nvarchar could not use their
// indexes.
func (r *request) Text(v []byte)   { r.bytes(v, 0, typeVarChar, 0x40, 0x1F, 0, 0, 0, 0, 0) }
func (r *request) Binary(v []byte) { r.bytes(v, 0, typeVarBinary, 0x40, 0x1F) }

// bytes adds at most 8,000 bytes.
func (r *request) bytes(v []byte, kind ...byte) {
	r.name()
	r.out = binary.LittleEndian.AppendUint16(append(r.out, kind...), uint16(len(v)))
	r.out = append(r.out, v...)
}

// Hundredths adds an amount as money: its upper half stands first.
func (r *request) Hundredths(v int64) {
	r.name()
	r.out = append(r.out, 0, typeMoneyN, 8, 8)
	amount := uint64(v * 100)
	r.out = binary.LittleEndian.AppendUint32(r.out, uint32(amount>>32))
	r.out = binary.LittleEndian.AppendUint32(r.out, uint32(amount))
}

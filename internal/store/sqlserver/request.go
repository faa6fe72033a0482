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
const typeIntN, typeMoneyN, typeVarBinary, typeVarChar, typeNVarChar = 0x26, 0x6E, 0xA5, 0xA7, 0xE7

// newRequest makes the heads of statements, each with room for the header of its first packet.
func newRequest(statements []Statement) request {
	var r request
	for _, s := range statements {
		h := head{append(make([]byte, packetHeader), transactionHeader...), s.Declared != ""}
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
	var header [packetHeader]byte
	r.out, r.named, r.next = appendQuery(append(append(r.out[:0], header[:]...), transactionHeader...), sql, declared), true, 1
}

func (r *request) Int16(v int16) { r.int(int64(v), 2) }
func (r *request) Int32(v int32) { r.int(int64(v), 4) }
func (r *request) Int64(v int64) { r.int(v, 8) }

// transactionHeader is what each message begins with: [MS-TDS] 2.2.5.3.
var transactionHeader = func() []byte {
	b := binary.LittleEndian.AppendUint32(nil, 22) // all headers
	b = binary.LittleEndian.AppendUint32(b, 18)    // this one
	b = binary.LittleEndian.AppendUint16(b, 2)     // transaction descriptor
	b = binary.LittleEndian.AppendUint64(b, 0)     // none
	return binary.LittleEndian.AppendUint32(b, 1)  // one request at a time
}()

// appendCall appends what stands before the parameters of a remote procedure call: [MS-TDS] 2.2.6.6.
func appendCall(b []byte, procedure string) []byte {
	name := utf16.Encode([]rune(procedure))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(name)))
	for _, unit := range name {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return append(b, 0, 0) // no options
}

// appendQuery appends the same of a text with parameters, by sp_executesql.
func appendQuery(b, sql, declared []byte) []byte {
	const executeSQL = 10
	b = append(b, 0xFF, 0xFF, executeSQL, 0, 0, 0)
	return appendUnicode(appendUnicode(b, sql), declared)
}

// appendUnicode appends a parameter without a name, of type nvarchar; what is longer than that may be is sent in one part of a
// longer one: [MS-TDS] 2.2.5.2.3. The text is ASCII.
func appendUnicode(b, text []byte) []byte {
	const most, inParts = 8000, 0xFFFF // bytes
	size := 2 * len(text)
	b = append(b, 0, 0, typeNVarChar)
	if size <= most {
		b = binary.LittleEndian.AppendUint16(b, uint16(size))
		b = append(b, 0, 0, 0, 0, 0) // collation
		b = binary.LittleEndian.AppendUint16(b, uint16(size))
	} else {
		b = binary.LittleEndian.AppendUint16(b, inParts)
		b = append(b, 0, 0, 0, 0, 0)
		b = binary.LittleEndian.AppendUint64(b, uint64(size))
		b = binary.LittleEndian.AppendUint32(b, uint32(size))
	}
	for _, c := range text {
		b = append(b, c, 0)
	}
	if size > most {
		b = append(b, 0, 0, 0, 0) // no further part
	}
	return b
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

// Text adds a varchar: the columns are, and a comparison with nvarchar could not use their indexes.
func (r *request) Text(v []byte) {
	r.name()
	r.out = append(r.out, 0, typeVarChar, 0x40, 0x1F, 0, 0, 0, 0, 0) // at most 8,000 bytes, the database's collation
	r.out = binary.LittleEndian.AppendUint16(r.out, uint16(len(v)))
	r.out = append(r.out, v...)
}

// Binary adds a varbinary.
func (r *request) Binary(v []byte) {
	r.name()
	r.out = append(r.out, 0, typeVarBinary, 0x40, 0x1F) // at most 8,000 bytes
	r.out = binary.LittleEndian.AppendUint16(r.out, uint16(len(v)))
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

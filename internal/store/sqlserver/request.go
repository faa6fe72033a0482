package sqlserver

import (
	"encoding/binary"
	"fmt"
	"unicode/utf16"

	"ds2/internal/store"
)

// request is a remote procedure call as it is put together, with room for the header of its first packet: [MS-TDS] 2.2.6.6.
type request struct {
	out   []byte
	named int // how many parameters have got their names; all where they have none
}

// The types of parameters and columns: [MS-TDS] 2.2.5.4.
const typeIntN, typeMoneyN, typeVarChar, typeNVarChar = 0x26, 0x6E, 0xA7, 0xE7

// heads holds what stands before the parameters of each operation.
var heads = func() (heads [store.NumOps][]byte) {
	for op, call := range calls {
		heads[op] = append(make([]byte, packetHeader), callHead(call)...)
	}
	heads[store.OpPrices] = append(make([]byte, packetHeader), queryHead(calls[store.OpPrices], maxItems)...)
	return heads
}()

// names are those of the parameters of a query.
var names = [maxItems]string{"@p1", "@p2", "@p3", "@p4", "@p5", "@p6", "@p7", "@p8", "@p9", "@p10"}

// begin starts a call.
func (r *request) begin(op store.Op) {
	r.out = append(r.out[:0], heads[op]...)
	r.named = 0
	if op != store.OpPrices {
		r.named = len(names)
	}
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

// queryHead is the same of a statement with n parameters @p1, @p2 … of type int, by sp_executesql.
func queryHead(statement string, n int) []byte {
	declared := ""
	for i := range n {
		if i > 0 {
			declared += ","
		}
		declared += fmt.Sprintf("@p%d int", i+1)
	}
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

// int adds a parameter of so many bytes. Parameters have no name, but for those of a query.
func (r *request) int(v int64, size byte) {
	name := ""
	if r.named < len(names) {
		name = names[r.named]
		r.named++
	}
	r.out = append(r.out, byte(len(name)))
	for i := range len(name) {
		r.out = append(r.out, name[i], 0)
	}
	r.out = append(r.out, 0, typeIntN, size, size)
	for range size {
		r.out = append(r.out, byte(v))
		v >>= 8
	}
}

// text adds a varchar: the columns are, and a comparison with nvarchar could not use their indexes.
func (r *request) text(v []byte) {
	r.out = append(r.out, 0, 0, typeVarChar, 0x40, 0x1F, 0, 0, 0, 0, 0) // at most 8,000 bytes, the database's collation
	r.out = binary.LittleEndian.AppendUint16(r.out, uint16(len(v)))
	r.out = append(r.out, v...)
}

// cents adds an amount as money: its upper half stands first.
func (r *request) cents(v store.Cents) {
	r.out = append(r.out, 0, 0, typeMoneyN, 8, 8)
	amount := uint64(int64(v) * 100)
	r.out = binary.LittleEndian.AppendUint32(r.out, uint32(amount>>32))
	r.out = binary.LittleEndian.AppendUint32(r.out, uint32(amount))
}

package sqlserver

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"
	"unicode/utf16"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store"
)

// wire is a connection on which the procedures are called with the protocol's messages themselves. go-mssqldb logs in
// and then hands it over: its own calls start a goroutine and a channel for each answer, box every value, and build the
// text of every declaration again, which costs the client more than the rest of an order. A call is one write and, as a
// rule, one read; nothing is allocated. What it speaks is [MS-TDS] 2.2.6.6 (RPC) and 2.2.7 (tokens).
//
// It needs a connection that is not encrypted after the login; others stay with go-mssqldb.
type wire struct {
	conn   net.Conn
	packet int // most bytes of a packet

	out        []byte // the request, header included
	named      int    // how many parameters have got their names; all where they have none
	in         []byte // read and not yet used: in[from:to]
	from, to   int
	body       []byte // of an answer of several packets, put together
	kinds      []columnKind
	values     []value
	watched    context.Context // whose end ends the call under way
	unwatch    func()
	busy       bool // an answer is not read to its end
	brokenDown bool // the connection is of no use any more
}

// value is what the operations need of a column: whether there is anything, and a number. Amounts are in 1/10,000.
type value struct {
	null bool
	n    int64
}

// columnKind is how a column's values stand in a row.
type columnKind struct {
	token byte
	size  int  // of a fixed type
	money bool // else a whole number, or a text
}

const (
	packetHeader = 8
	packetRPC    = 0x03
	packetAnswer = 0x04
	packetAttn   = 0x06
	lastPacket   = 0x01

	typeIntN, typeMoneyN, typeVarChar, typeNVarChar = 0x26, 0x6E, 0xA7, 0xE7
)

func newWire(conn net.Conn, packet int) *wire {
	if packet < 512 { // go-mssqldb's own limits
		packet = 4096
	}
	return &wire{conn: conn, packet: min(packet, 4096), in: make([]byte, 16<<10), watched: context.Background(), unwatch: func() {}}
}

// watch makes the end of ctx end the call that follows. The watch stays until another context comes: a user makes all its
// calls with the same one.
func (w *wire) watch(ctx context.Context) {
	if ctx == w.watched {
		return
	}
	w.unwatch()
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		w.conn.SetDeadline(time.Unix(1, 0))
		close(done)
	})
	w.watched = ctx
	w.unwatch = func() {
		if !stop() {
			<-done
			w.conn.SetDeadline(time.Time{})
		}
	}
}

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
func (w *wire) begin(op store.Op) {
	w.out = append(w.out[:0], heads[op]...)
	w.named = 0
	if op != store.OpPrices {
		w.named = len(names)
	}
}

func (w *wire) int16(v int16) { w.int(int64(v), 2) }
func (w *wire) int32(v int32) { w.int(int64(v), 4) }
func (w *wire) whole() bool   { return !w.brokenDown }

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
func (w *wire) int(v int64, size byte) {
	name := ""
	if w.named < len(names) {
		name = names[w.named]
		w.named++
	}
	w.out = append(w.out, byte(len(name)))
	for i := range len(name) {
		w.out = append(w.out, name[i], 0)
	}
	w.out = append(w.out, 0, typeIntN, size, size)
	for range size {
		w.out = append(w.out, byte(v))
		v >>= 8
	}
}

// text adds a varchar: the columns are, and a comparison with nvarchar could not use their indexes.
func (w *wire) text(v []byte) {
	w.out = append(w.out, 0, 0, typeVarChar, 0x40, 0x1F, 0, 0, 0, 0, 0) // at most 8,000 bytes, the database's collation
	w.out = binary.LittleEndian.AppendUint16(w.out, uint16(len(v)))
	w.out = append(w.out, v...)
}

// cents adds an amount as money: its upper half stands first.
func (w *wire) cents(v store.Cents) {
	w.out = append(w.out, 0, 0, typeMoneyN, 8, 8)
	amount := uint64(int64(v) * 100)
	w.out = binary.LittleEndian.AppendUint32(w.out, uint32(amount>>32))
	w.out = binary.LittleEndian.AppendUint32(w.out, uint32(amount))
}

// call sends the request and hands every row of the answer to row, down to the last. An error of the server's is a
// mssql.Error.
func (w *wire) call(ctx context.Context, columns int, row func([]value) error) error {
	w.watch(ctx)
	w.busy = true
	if err := w.send(); err != nil {
		return w.lost(err)
	}
	answer, err := w.receive()
	if err != nil {
		return w.lost(err)
	}
	w.busy = false
	return w.read(answer, columns, row)
}

// lost is why the connection is lost: the context's end where that was it.
func (w *wire) lost(err error) error {
	w.brokenDown = true
	if ended := w.watched.Err(); ended != nil {
		return ended
	}
	return &net.OpError{Op: "talk", Net: w.conn.RemoteAddr().Network(), Addr: w.conn.RemoteAddr(), Err: err}
}

// send writes the request, in packets where it is longer than one.
func (w *wire) send() error {
	rest := w.out
	for id := byte(1); ; id++ {
		n := min(len(rest), w.packet)
		status := byte(0)
		if n == len(rest) {
			status = lastPacket
		}
		rest[0], rest[1], rest[4], rest[5], rest[6], rest[7] = packetRPC, status, 0, 0, id, 0
		binary.BigEndian.PutUint16(rest[2:], uint16(n))
		if _, err := w.conn.Write(rest[:n]); err != nil || status == lastPacket {
			return err
		}
		rest = rest[n-packetHeader:] // the next header takes the place of bytes that are sent
	}
}

// receive reads a whole answer, without headers; it is valid until the next call.
func (w *wire) receive() ([]byte, error) {
	w.body = w.body[:0]
	for {
		if err := w.have(packetHeader); err != nil {
			return nil, err
		}
		header := w.in[w.from : w.from+packetHeader]
		kind, status, size := header[0], header[1], int(binary.BigEndian.Uint16(header[2:]))
		if kind != packetAnswer || size < packetHeader {
			return nil, errShape
		}
		if err := w.have(size); err != nil {
			return nil, err
		}
		payload := w.in[w.from+packetHeader : w.from+size]
		w.from += size
		if status&lastPacket != 0 && len(w.body) == 0 {
			return payload, nil
		}
		if w.body = append(w.body, payload...); status&lastPacket != 0 {
			return w.body, nil
		}
	}
}

// have reads until n bytes are there.
func (w *wire) have(n int) error {
	if w.from == w.to {
		w.from, w.to = 0, 0
	}
	for w.to-w.from < n {
		if w.from+n > len(w.in) {
			if n > len(w.in) {
				bigger := make([]byte, n)
				copy(bigger, w.in[w.from:w.to])
				w.in, w.to, w.from = bigger, w.to-w.from, 0
			} else {
				w.to = copy(w.in, w.in[w.from:w.to])
				w.from = 0
			}
		}
		read, err := w.conn.Read(w.in[w.to:])
		w.to += read
		if err != nil && w.to-w.from < n {
			return err
		}
	}
	return nil
}

var errShape = errors.New("answer of another shape than the procedure's")

// read goes through the tokens of an answer: [MS-TDS] 2.2.7.
func (w *wire) read(b []byte, columns int, row func([]value) error) (err error) {
	defer func() {
		if recover() != nil { // an index past the answer's end
			w.brokenDown = true
			err = &net.OpError{Op: "talk", Net: "tcp", Addr: w.conn.RemoteAddr(), Err: errShape}
		}
	}()
	const (
		tokenColumns, tokenRow, tokenNBCRow          = 0x81, 0xD1, 0xD2
		tokenError, tokenReturnStatus, tokenSessions = 0xAA, 0x79, 0xE4
		tokenDone, tokenDoneProc, tokenDoneInProc    = 0xFD, 0xFE, 0xFF
		doneSize, severed                            = 12, 0x100
	)
	var failed []mssql.Error
	for len(b) > 0 {
		token := b[0]
		b = b[1:]
		switch token {
		case tokenColumns:
			if b = w.columns(b); len(w.kinds) != columns && err == nil {
				err = fmt.Errorf("answer of %d columns, not the procedure's %d", len(w.kinds), columns)
			}
		case tokenRow, tokenNBCRow:
			b = w.row(b, token == tokenNBCRow)
			if err == nil {
				err = row(w.values)
			}
		case tokenDone, tokenDoneProc, tokenDoneInProc:
			if binary.LittleEndian.Uint16(b)&severed != 0 {
				w.brokenDown = true
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
			w.brokenDown = true
			return &net.OpError{Op: "talk", Net: "tcp", Addr: w.conn.RemoteAddr(), Err: fmt.Errorf("%w: token %#x", errShape, token)}
		}
	}
	if len(failed) > 0 {
		last := failed[len(failed)-1]
		last.All = failed
		w.brokenDown = w.brokenDown || last.Class >= 20
		return last
	}
	return err
}

// columns reads COLMETADATA: [MS-TDS] 2.2.7.4.
func (w *wire) columns(b []byte) []byte {
	n := int(binary.LittleEndian.Uint16(b))
	b = b[2:]
	w.kinds, w.values = w.kinds[:0], w.values[:0]
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
		default:
			panic(errShape)
		}
		b = b[1+2*int(b[0]):] // its name
		w.kinds = append(w.kinds, k)
		w.values = append(w.values, value{})
	}
	return b
}

// row reads ROW or NBCROW into values: [MS-TDS] 2.2.7.17, 2.2.7.15.
func (w *wire) row(b []byte, withNulls bool) []byte {
	var nulls []byte
	if withNulls {
		size := (len(w.kinds) + 7) / 8
		nulls, b = b[:size], b[size:]
	}
	for i, k := range w.kinds {
		v := &w.values[i]
		*v = value{}
		if nulls != nil && nulls[i/8]>>(i%8)&1 != 0 {
			v.null = true
			continue
		}
		size := k.size
		switch k.token {
		case typeIntN, 0x68, typeMoneyN, 0x6F:
			size = int(b[0])
			b = b[1:]
			v.null = size == 0
		case typeVarChar, 0xAF, typeNVarChar, 0xEF:
			n := binary.LittleEndian.Uint16(b)
			b = b[2:]
			if v.null = n == 0xFFFF; !v.null {
				b = b[n:]
			}
			continue
		}
		switch {
		case k.money && size == 8:
			v.n = int64(binary.LittleEndian.Uint32(b))<<32 | int64(binary.LittleEndian.Uint32(b[4:]))
		case size == 8:
			v.n = int64(binary.LittleEndian.Uint64(b))
		case size == 4:
			v.n = int64(int32(binary.LittleEndian.Uint32(b)))
		case size == 2:
			v.n = int64(int16(binary.LittleEndian.Uint16(b)))
		case size == 1:
			v.n = int64(b[0])
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

// close ends the connection. A request whose answer was not read is cancelled by an attention, [MS-TDS] 2.2.1.7, so that it does
// not go on waiting for a lock.
func (w *wire) close() error {
	w.unwatch()
	if w.busy {
		w.conn.SetDeadline(time.Now().Add(time.Second))
		w.conn.Write([]byte{packetAttn, lastPacket, 0, packetHeader, 0, 0, 1, 0}) // a server that is gone need not be told
	}
	return w.conn.Close()
}

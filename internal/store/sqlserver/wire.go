package sqlserver

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"

	"ds2/internal/store/link"
)

// wire is a connection on which the procedures are called with the protocol's messages themselves. go-mssqldb logs in
// and then hands it over: its own calls start a goroutine and a channel for each answer, box every value, and build the
// text of every declaration again, which costs the client more than the rest of an order. A call is one write and, as a
// rule, one read; nothing is allocated. What it speaks is [MS-TDS] 2.2.6.6 (RPC) and 2.2.7 (tokens).
//
// It needs a connection that is not encrypted after the login.
type wire struct {
	request
	answer

	conn   net.Conn
	direct io.ReadWriter // of conn; a write is followed by a read
	watch  link.Watch
	packet int // bytes of each packet but a message's last: 2.2.3.1.3

	in   *bufio.Reader // of direct
	body []byte        // of an answer of several packets, put together
	busy bool          // an answer is not read to its end
}

// Packets: [MS-TDS] 2.2.3.1.
const (
	packetHeader = 8
	packetRPC    = 0x03
	packetAnswer = 0x04
	packetAttn   = 0x06
	lastPacket   = 0x01
)

func newWire(conn net.Conn, packet int, statements []Statement) *wire {
	direct := recorded(link.Direct(conn))
	return &wire{request: newRequest(statements), conn: conn, direct: direct, watch: link.NewWatch(conn),
		packet: packet, in: bufio.NewReaderSize(direct, max(packet, 16<<10))}
}

func (w *wire) whole() bool { return !w.severed }

// call sends the request and hands every row of the answer to row, down to the last. An error of the server's is a
// mssql.Error.
func (w *wire) call(ctx context.Context, columns int, row func([]Value) error) error {
	w.watch.Over(ctx)
	w.busy = true
	if err := w.send(); err != nil {
		return w.lost(err)
	}
	answer, err := w.receive()
	if err != nil {
		return w.lost(err)
	}
	w.busy = false
	err = w.read(answer, columns, row)
	if errors.Is(err, errShape) {
		return w.lost(err)
	}
	return err
}

// lost is why the connection is lost.
func (w *wire) lost(err error) error {
	w.severed = true
	return w.watch.Cause(err)
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
		if status == lastPacket {
			_, err := w.direct.Write(rest)
			return err
		}
		if _, err := w.conn.Write(rest[:n]); err != nil {
			return err
		}
		rest = rest[n-packetHeader:] // the next header takes the place of bytes that are sent
	}
}

// receive reads a whole answer, without headers; it is valid until the next call.
func (w *wire) receive() ([]byte, error) {
	w.body = w.body[:0]
	for {
		header, err := w.in.Peek(packetHeader)
		if err != nil {
			return nil, err
		}
		kind, status, size := header[0], header[1], int(binary.BigEndian.Uint16(header[2:]))
		if kind != packetAnswer || size < packetHeader || size > w.in.Size() {
			return nil, errShape
		}
		packet, err := w.in.Peek(size)
		if err != nil {
			return nil, err
		}
		_, _ = w.in.Discard(size) // its bytes stay until the next is read
		payload := packet[packetHeader:]
		if status&lastPacket != 0 && len(w.body) == 0 {
			return payload, nil
		}
		if len(w.body)+len(payload) > maxAnswer {
			return nil, longAnswer{}
		}
		if w.body = append(w.body, payload...); status&lastPacket != 0 {
			return w.body, nil
		}
	}
}

// close ends the connection. A request whose answer was not read is cancelled by an attention, [MS-TDS] 2.2.1.7, so
// that it does not go on waiting for a lock.
func (w *wire) close() error {
	w.watch.Stop()
	if w.busy {
		w.conn.SetDeadline(time.Now().Add(time.Second))
		_, _ = w.conn.Write([]byte{packetAttn, lastPacket, 0, packetHeader, 0, 0, 1, 0}) // it may be gone
	}
	return w.conn.Close()
}

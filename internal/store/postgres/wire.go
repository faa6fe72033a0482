package postgres

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"ds2/internal/store/link"
)

// wire is a connection on which prepared statements are called with PostgreSQL's messages themselves. pgconn makes the
// connection and then hands it over: its own calls would set up a watch of the context and a timer each time, and copy
// results. A call is one write (Bind, Execute, Sync) and, as a rule, one read; all values go in binary; nothing is
// allocated.
type wire struct {
	conn    net.Conn
	front   *pgproto3.Frontend
	bind    pgproto3.Bind
	execute pgproto3.Execute
	arena   []byte    // of the parameters that are numbers
	socket  io.Writer // that calls go to; nil before prepare
	out     []byte    // calls that are to be sent: a Frontend would make a new buffer after each that is longer than 1 KB
	invalid error     // of a call that could not be encoded

	watch link.Watch

	failed    error // what the server said of the call under way
	queued    int   // calls that are to be sent
	sent      int   // calls of which the answer is being read
	completed int   // of these, those that the server has run, though not yet committed
	broken    bool  // the connection is of no use any more
}

// binaryFormat is the format of all parameters and all results.
var binaryFormat = []int16{pgproto3.BinaryFormat}

func newWire(c *pgconn.HijackedConn) *wire {
	return &wire{
		conn:  c.Conn,
		watch: link.NewWatch(c.Conn),
		front: c.Frontend,
		bind:  pgproto3.Bind{ParameterFormatCodes: binaryFormat, ResultFormatCodes: binaryFormat},
	}
}

// planOnce makes the server plan each call once a session. Left to itself it plans DVD Store 2's search for words again
// each time, as the words might matter: that took a fifth of all CPU time of an order. Where somebody has set plan_cache_mode, be
// it for the server, the database, the role or in the target's URL, it stays as it is.
const planOnce = `SELECT set_config(name, 'force_generic_plan', false)
FROM pg_settings WHERE name = 'plan_cache_mode' AND source = 'default'`

// prepare runs setup and prepares all statements in one round trip, the first one after pgconn made the connection. That
// one still goes through pgconn's own reader: where a write took pgconn long, on a busy machine, a goroutine of its is
// waiting for the next bytes from the server, and would take them from any other reader. Once they have come it is gone.
func (w *wire) prepare(ctx context.Context, setup string, statements []Statement) error {
	w.watch.Over(ctx)
	w.front.SendParse(&pgproto3.Parse{Query: setup})
	w.front.SendBind(&pgproto3.Bind{})
	w.front.SendExecute(&pgproto3.Execute{})
	w.queued = 1
	for _, s := range statements {
		w.front.SendParse(&pgproto3.Parse{Name: s.Name, Query: s.SQL})
	}
	if err := w.finish(); err != nil {
		return err
	}
	socket := link.Direct(w.conn)
	w.socket, w.front = socket, newFrontend(socket, socket)
	return nil
}

// Call begins the call of a statement; its parameters follow.
func (w *wire) Call(s *Statement) {
	w.bind.PreparedStatement = s.Name
	w.bind.Parameters = w.bind.Parameters[:0]
	w.arena = w.arena[:0]
}

// Bytes adds a parameter that is sent as its bytes are; nil is NULL.
func (w *wire) Bytes(value []byte) { w.bind.Parameters = append(w.bind.Parameters, value) }

// Arena is where the parameters of the call stand that are made for it. What is appended to it becomes one by Take.
func (w *wire) Arena() []byte { return w.arena }

// Take adds as a parameter what was appended to the arena.
func (w *wire) Take(arena []byte) {
	w.Bytes(arena[len(w.arena):len(arena):len(arena)])
	w.arena = arena
}

// Int16 adds a parameter.
func (w *wire) Int16(v int16) { w.Take(binary.BigEndian.AppendUint16(w.arena, uint16(v))) }

// Int32 adds a parameter.
func (w *wire) Int32(v int32) { w.Take(binary.BigEndian.AppendUint32(w.arena, uint32(v))) }

// Int64 adds a parameter.
func (w *wire) Int64(v int64) { w.Take(binary.BigEndian.AppendUint64(w.arena, uint64(v))) }

// Hundredths adds a parameter of type numeric, with two decimal places.
func (w *wire) Hundredths(v int64) { w.Take(appendNumeric(w.arena, v)) }

// run sends the call alone, as one transaction.
func (w *wire) run(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.Queue()
	return w.Send(ctx)
}

// Send sends what is queued as one transaction.
func (w *wire) Send(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.watch.Over(ctx)
	return w.flush()
}

// Queue queues the call.
func (w *wire) Queue() {
	for _, m := range [...]pgproto3.FrontendMessage{&w.bind, &w.execute} {
		w.encode(m)
	}
	w.queued++
}

func (w *wire) encode(m pgproto3.FrontendMessage) {
	out, err := m.Encode(w.out)
	if err != nil {
		w.invalid = cmp.Or(w.invalid, err)
		return
	}
	w.out = out
}

// mostKept bounds the buffer that is kept for the next calls.
const mostKept = 1 << 20

// write writes what is queued.
func (w *wire) write() error {
	if w.socket == nil {
		w.front.SendSync(&endOfCalls)
		return w.front.Flush()
	}
	w.encode(&endOfCalls)
	err := w.invalid
	if err == nil {
		_, err = w.socket.Write(w.out)
	}
	if w.out = w.out[:0]; cap(w.out) > mostKept {
		w.out = nil
	}
	return err
}

var endOfCalls pgproto3.Sync

func (w *wire) flush() error {
	w.failed, w.completed, w.sent, w.queued = nil, 0, w.queued, 0
	if err := w.write(); err != nil {
		w.broken = true
		return w.watch.Cause(err)
	}
	return nil
}

// row is the next row of the call, valid until the next call of row; nil after the last one, when the call is over.
func (w *wire) row() ([][]byte, error) {
	for {
		message, err := w.front.Receive()
		if err != nil {
			w.broken = true
			if w.failed != nil {
				return nil, w.failed // the server's last words
			}
			return nil, w.watch.Cause(err)
		}
		switch m := message.(type) {
		case *pgproto3.DataRow:
			if w.completed >= w.sent { // of a call that nobody made
				w.broken = true
				return nil, errShape
			}
			return m.Values, nil
		case *pgproto3.CommandComplete:
			w.completed++
		case *pgproto3.ErrorResponse:
			w.failed = pgconn.ErrorResponseToPgError(m)
		case *pgproto3.ReadyForQuery:
			return nil, w.failed
		}
	}
}

// finish sends what is pending and reads to the end of the answer.
func (w *wire) finish() error {
	err := w.flush()
	for err == nil {
		var row [][]byte
		if row, err = w.row(); row == nil {
			break
		}
	}
	return err
}

func (w *wire) close() error {
	w.watch.Stop()
	if !w.broken {
		goodbye, _ := (&pgproto3.Terminate{}).Encode(nil)
		w.conn.SetDeadline(time.Now().Add(time.Second))
		w.conn.Write(goodbye) // a server that is gone need not be told
	}
	return w.conn.Close()
}

var errShape = errors.New("answer of another shape than was asked for")

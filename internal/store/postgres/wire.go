package postgres

import (
	"cmp"
	"context"
	"encoding/binary"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"ds2/schema"
)

// prepareStatements runs setup and prepares all statements in one round trip, the first one after
// pgconn made the connection. Its answer still goes through pgconn's own reader: where a write took
// pgconn long, on a busy machine, a goroutine of its is waiting for the next bytes from the server,
// and would take them from any other reader. Once they have come it is gone.
func (c *Conn) prepareStatements(
	ctx context.Context, setup string, statements []schema.Statement,
) error {
	c.encodeMessage(&pgproto3.Parse{Query: setup})
	c.encodeMessage(&pgproto3.Bind{})
	c.encodeMessage(&pgproto3.Execute{})
	for _, s := range statements {
		c.encodeMessage(&pgproto3.Parse{Name: s.Name, Query: s.SQL})
	}
	c.queued = 1
	err := c.exchangeRows(ctx, func([][]byte) bool { return true })
	socket := directConn(c.conn)
	c.socket, c.front = socket, newFrontend(socket, socket)
	return err
}

// Call begins the call of a statement; its parameters follow.
func (c *Conn) Call(s *schema.Statement) {
	c.bind.PreparedStatement = s.Name
	c.bind.Parameters = c.bind.Parameters[:0]
	c.arena = c.arena[:0]
}

// Bytes adds a parameter that is sent as its bytes are; nil is NULL.
func (c *Conn) Bytes(value []byte) { c.bind.Parameters = append(c.bind.Parameters, value) }

// Arena is where the parameters of the call stand that are made for it. What is appended to it
// becomes one by Take.
func (c *Conn) Arena() []byte { return c.arena }

// Take adds as a parameter what was appended to the arena.
func (c *Conn) Take(arena []byte) {
	c.Bytes(arena[len(c.arena):len(arena):len(arena)])
	c.arena = arena
}

// Int16 adds a parameter of type smallint.
func (c *Conn) Int16(v int16) { c.Take(binary.BigEndian.AppendUint16(c.arena, uint16(v))) }

// Int32 adds a parameter of type integer.
func (c *Conn) Int32(v int32) { c.Take(binary.BigEndian.AppendUint32(c.arena, uint32(v))) }

// Int64 adds a parameter of type bigint.
func (c *Conn) Int64(v int64) { c.Take(binary.BigEndian.AppendUint64(c.arena, uint64(v))) }

// Hundredths adds a parameter of type numeric, with two decimal places.
func (c *Conn) Hundredths(v int64) { c.Take(appendNumeric(c.arena, v)) }

// Queue queues the call.
func (c *Conn) Queue() {
	for _, m := range [...]pgproto3.FrontendMessage{&c.bind, &c.execute} {
		c.encodeMessage(m)
	}
	c.queued++
}

// encodeMessage appends a message to what is to be sent. One that cannot be encoded, such as of too
// many parameters, is kept as the error of the calls that are queued with it: none of them is sent.
func (c *Conn) encodeMessage(m pgproto3.FrontendMessage) {
	out, err := m.Encode(c.out)
	if err != nil {
		c.invalid = cmp.Or(c.invalid, err)
		return
	}
	c.out = out
}

// mostKept bounds the buffer that is kept for the next calls.
const mostKept = 1 << 20

var endOfCalls pgproto3.Sync

// exchangeRows sends what is queued as one transaction, and takes the rows of the answers.
func (c *Conn) exchangeRows(ctx context.Context, take func(row [][]byte) bool) error {
	err := c.sendQueued(ctx)
	for err == nil {
		var row [][]byte
		if row, err = c.nextRow(); row == nil {
			break
		}
		if !take(row) {
			c.broken = true
			err = errShape
		}
	}
	return err
}

// sendQueued sends all calls that are queued with one Sync behind them, which makes them one
// transaction: where one fails, the server passes over those after it and rolls all of them back.
func (c *Conn) sendQueued(ctx context.Context) error {
	c.encodeMessage(&endOfCalls)
	c.failed, c.completed, c.sent, c.queued = nil, 0, c.queued, 0
	err := cmp.Or(ctx.Err(), c.invalid)
	c.invalid = nil // it goes with the calls, none of which is sent
	if err == nil {
		c.watch.watchContext(ctx)
		if _, err = c.socket.Write(c.out); err != nil {
			c.broken = true
			err = c.watch.findCause(err)
		}
	}
	if c.out = c.out[:0]; cap(c.out) > mostKept {
		c.out = nil
	}
	return err
}

// nextRow is the next row of what was sent, valid until the next call; nil after the last one, when
// the transaction is committed.
func (c *Conn) nextRow() ([][]byte, error) {
	for {
		message, err := c.front.Receive()
		if err != nil {
			c.broken = true
			return nil, cmp.Or(c.failed, c.watch.findCause(err)) // the server's last words, if any
		}
		switch m := message.(type) {
		case *pgproto3.DataRow:
			if c.completed >= c.sent { // of a call that was not sent
				c.broken = true
				return nil, errShape
			}
			return m.Values, nil
		case *pgproto3.CommandComplete:
			c.completed++
		case *pgproto3.ErrorResponse:
			c.failed = pgconn.ErrorResponseToPgError(m)
		case *pgproto3.ReadyForQuery:
			return nil, c.failed
		}
	}
}

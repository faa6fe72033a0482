package postgres

import (
	"context"
	"encoding/binary"

	"github.com/jackc/pgx/v5/pgconn"

	"ds2/internal/store"
	"ds2/internal/store/postgres/target"
)

// Statement is one that a connection prepares.
type Statement struct{ Name, SQL string }

// Conn is a connection of one user, for a workload's calls of prepared statements. All values go in binary, and nothing is
// allocated: Call, a parameter each, and Run; or Queue, and after the last call Send. Then Row until it gives none. What was
// queued before Send is one transaction and one round trip.
type Conn struct {
	store *Store
	*wire
}

// ConnectUser opens a connection for one user and prepares its statements, each planned once.
func (s *Store) ConnectUser(ctx context.Context, statements ...Statement) (*Conn, error) {
	op := "connect to " + s.Label()
	config, err := s.Config(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := pgconn.ConnectConfig(ctx, &config.Config)
	if err != nil {
		return nil, s.Wrap(op, err)
	}
	hijacked, err := conn.Hijack()
	if err != nil {
		return nil, s.Wrap(op, err)
	}
	c := &Conn{s, newWire(hijacked)}
	if err := c.prepare(ctx, planOnce, statements); err != nil {
		c.close()
		return nil, s.Wrap("prepare the statements of "+s.Label(), err)
	}
	return c, nil
}

// Int64 adds a parameter.
func (c *Conn) Int64(v int64) {
	start := len(c.arena)
	c.arena = binary.BigEndian.AppendUint64(c.arena, uint64(v))
	c.fromArena(start)
}

// Hundredths adds a parameter of type numeric, with two decimal places.
func (c *Conn) Hundredths(v int64) {
	start := len(c.arena)
	c.arena = appendNumeric(c.arena, v)
	c.fromArena(start)
}

// Arena is where the parameters of the call stand that are made for it. What is appended to it becomes one by Take.
func (c *Conn) Arena() []byte { return c.arena }

// Take adds as a parameter what was appended to the arena.
func (c *Conn) Take(arena []byte) {
	start := len(c.arena)
	c.arena = arena
	c.fromArena(start)
}

// Row is the next row of what was sent, valid until the next call of Row, and the index of the call that it is of; nil after
// the last one, when the transaction is committed.
func (c *Conn) Row() (call int, row [][]byte, err error) {
	row, err = c.row()
	return c.completed, row, err
}

// ErrShape is an answer with other columns than were asked for. The connection is then of no use.
func (c *Conn) ErrShape() error {
	c.broken = true
	return errShape
}

// Fail is the error of what was sent; writes says that it writes. It is then in doubt where the connection broke before the
// server told how it ended: what the server refused before it had run it is certainly not there.
func (c *Conn) Fail(op string, writes bool, err error) error {
	wrapped := c.store.Wrap(op, err)
	if e, ok := wrapped.(*store.Error); ok {
		e.InDoubt = writes && (e.Code == target.CompletionUnknown || c.broken && (c.failed == nil || c.completed > 0))
	}
	return wrapped
}

// Close ends the connection.
func (c *Conn) Close(context.Context) error { return c.close() }

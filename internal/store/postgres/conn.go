package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"

	"ds2/internal/store"
	"ds2/internal/store/postgres/target"
)

// Statement is one that a connection prepares.
type Statement struct{ Name, SQL string }

// Conn is a connection of one user, for a workload's calls of prepared statements. All values go in binary, and nothing is
// allocated: Call, a parameter each, and Each; or Queue, after the last call Send, and Row until it gives none. What was
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

// Row is the next row of what was sent, valid until the next call of Row, and the index of the call that it is of; nil after
// the last one, when the transaction is committed.
func (c *Conn) Row() (call int, row [][]byte, err error) {
	row, err = c.row()
	return c.completed, row, err
}

// Each sends the call alone, as one transaction, and hands take each row of the answer, which is valid until it returns. It is false of
// a row with other columns than were asked for. The error is that of Fail, by the statement's name.
func (c *Conn) Each(ctx context.Context, writes bool, take func(row [][]byte) bool) error {
	err := c.run(ctx)
	var row [][]byte
	for more := err == nil; more; more = err == nil && row != nil {
		_, row, err = c.Row()
		if row != nil && !take(row) {
			err = c.ErrShape()
		}
	}
	if err != nil {
		return c.Fail(c.bind.PreparedStatement, writes, err)
	}
	return nil
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

package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"ds2/internal/store"
	"ds2/schema"
)

// Conn is a connection of one user, for a workload's calls of prepared statements. All values go in
// binary, and nothing is allocated: Call, a parameter each, and Each; or Queue, and Each for the
// last of several calls, which are one transaction and one round trip.
//
// It speaks with PostgreSQL's messages themselves. pgconn makes the connection and then hands it
// over: its own calls would set up a watch of the context and a timer each time, and copy results.
// A call is one write (Bind, Execute, Sync) and, as a rule, one read.
type Conn struct {
	store   *Store
	conn    net.Conn
	front   *pgproto3.Frontend
	bind    pgproto3.Bind
	execute pgproto3.Execute
	arena   []byte    // of the parameters that are numbers
	socket  io.Writer // that calls go to
	// calls to be sent: a Frontend would make a new buffer after each that is longer than 1 KB
	out     []byte
	invalid error // of a call that could not be encoded

	watch watch

	failed    error // what the server said of the call under way
	queued    int   // calls that are to be sent
	sent      int   // calls of which the answer is being read
	completed int   // of these, those that the server has run, though not yet committed
	broken    bool  // the connection is of no use any more
}

// binaryFormat is the format of all parameters and all results.
var binaryFormat = []int16{pgproto3.BinaryFormat}

// ConnectUser opens a connection for one user and prepares its statements, each planned once.
func (s *Store) ConnectUser(ctx context.Context, statements ...schema.Statement) (*Conn, error) {
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
	c := &Conn{
		store: s, conn: hijacked.Conn, front: hijacked.Frontend, socket: hijacked.Conn,
		watch: watch{conn: hijacked.Conn},
		bind:  pgproto3.Bind{ParameterFormatCodes: binaryFormat, ResultFormatCodes: binaryFormat},
	}
	if err := c.prepareStatements(ctx, query("database/begin-user"), statements); err != nil {
		c.Close(ctx)
		return nil, s.Wrap("prepare the statements of "+s.Label(), err)
	}
	return c, nil
}

// Each sends the call, with those that are queued, as one transaction, and hands take each row of
// the answers, which is valid until it returns; take is false of a row with other columns than were
// asked for. The error goes by the name of the statement. One of a call that writes is in doubt
// where the connection broke before the server told how it ended: what the server refused before it
// had run it is certainly not there.
func (c *Conn) Each(ctx context.Context, writes bool, take func(row [][]byte) bool) error {
	c.Queue()
	err := c.exchangeRows(ctx, take)
	if err == nil {
		return nil
	}
	err = c.store.Wrap(c.bind.PreparedStatement, err)
	if e, ok := err.(*store.Error); ok {
		e.InDoubt = writes &&
			(e.Code == completionUnknown || c.broken && (c.failed == nil || c.completed > 0))
	}
	return err
}

// errShape is of an answer with other columns than were asked for. The connection is then of no
// use.
var errShape = errors.New("answer of another shape than was asked for")

// Close ends the connection.
func (c *Conn) Close(context.Context) error {
	c.watch.stopWatch()
	if !c.broken {
		goodbye, _ := (&pgproto3.Terminate{}).Encode(nil)
		c.conn.SetDeadline(time.Now().Add(time.Second))
		c.conn.Write(goodbye) // a server that is gone need not be told
	}
	return c.conn.Close()
}

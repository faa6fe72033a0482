// Package postgres is the PostgreSQL engine of package store. It speaks to the server through
// pgconn, and a user's session even below that (wire.go), because the client's own CPU time must
// not be what a benchmark measures. The SQL of the database itself is in package schema; what to
// run and when is not decided here.
package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/stdlib"

	"ds2/internal/escape"
	"ds2/internal/store"
	"ds2/schema"
)

// Engine is the engine's name.
const Engine = "postgres"

// query is the SQL of a question to a server or a database, by the name of its file.
func query(name string) string { return schema.Query(Engine, name) }

// poolIdle is how many connections of the pool stay open between statements.
const poolIdle = 4

// Store is a database in PostgreSQL.
type Store struct {
	config   *pgx.ConnConfig
	password func(ctx context.Context) (string, error) // nil: the config's
	db       *sql.DB
	data     atomic.Value // the server's data directory, a string
	here     atomic.Bool  // it is on this machine

	buildWanted, buildMost int64 // see SetBuilds
	serialBuilds           bool
	// which of its drives is full, and whether it went down for that
	hints hints
	// names of statements that Progress reports on, by the server's process
	running sync.Map
	// processes of the server that serve the pool or administer, for Waits
	sessions sync.Map
}

// Open makes a Store of a target URL as libpq takes it:
// postgres://user:password@host:port/database?options, where what is left out comes from libpq's
// environment variables, password file and defaults. It does not connect.
func Open(u *url.URL) (store.Database, error) {
	config, err := parseTarget(u)
	if err != nil {
		return nil, fmt.Errorf("read target URL: %w", err) // pgconn leaves the password out
	}
	for _, other := range config.Fallbacks { // of TLS modes too, at the same place
		if other.Host != config.Host || other.Port != config.Port {
			return nil, fmt.Errorf("the target names several servers, %s:%d and %s:%d: name the one to be measured",
				config.Host, config.Port, other.Host, other.Port)
		}
	}
	if config.Database == "" { // a server would take the user's name for it
		return nil, errors.New("the URL names no database: write it behind the host, such as postgres://host/ds2")
	}
	if name := config.Database; len(name) > maxName {
		return nil, fmt.Errorf("the database's name has %d bytes, and PostgreSQL cuts names to %d: name it %q",
			len(name), maxName, strings.ToValidUTF8(name[:maxName], ""))
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "ds2"
	}
	config.BuildFrontend = newFrontend
	s := &Store{config: config}
	pool := config.Copy()
	pool.BuildContextWatcherHandler = cancelStatement
	s.db = stdlib.OpenDB(*pool, stdlib.OptionBeforeConnect(s.askPassword),
		stdlib.OptionAfterConnect(s.beginSession), stdlib.OptionResetSession(neverCancelled))
	s.db.SetMaxIdleConns(poolIdle)
	return s, nil
}

// maxMessage is what a message of the server, such as a row, may have in bytes: no statement of ds2
// asks for one of a hundredth.
const maxMessage = 64 << 20

// newFrontend takes messages of at most maxMessage.
func newFrontend(r io.Reader, w io.Writer) *pgproto3.Frontend {
	f := pgproto3.NewFrontend(r, w)
	f.SetMaxBodyLen(maxMessage)
	return f
}

// beginSession notes a session, and lets its statements take as long as they take, whatever server,
// role and database say: a load is no user's query. Where policies hide rows it has the server
// refuse, instead of counting what is left; and names are quoted as a load has them quoted, or the
// schema would seem to be another.
func (s *Store) beginSession(ctx context.Context, conn *pgx.Conn) error {
	s.sessions.Store(int32(conn.PgConn().PID()), nil)
	_, err := conn.Exec(ctx, query("database/begin-session"))
	return err
}

// openSession connects outside the pool.
func (s *Store) openSession(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := s.beginSession(ctx, conn); err != nil {
		conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}

// neverCancelled drops a connection that was asked to end a statement: the server does so in its
// own time, and might end the next one.
func neverCancelled(_ context.Context, conn *pgx.Conn) error {
	if conn.PgConn().CustomData()[cancelled] != nil {
		return driver.ErrBadConn
	}
	return nil
}

// AskPassword has ask give the password of each connection.
func (s *Store) AskPassword(ask func(ctx context.Context) (string, error)) { s.password = ask }

// askPassword puts the password of the moment into a copy of the config.
func (s *Store) askPassword(ctx context.Context, config *pgx.ConnConfig) error {
	if s.password == nil {
		return nil
	}
	password, err := s.password(ctx)
	if err != nil {
		return &store.Error{Op: "connect to " + s.Label(), Class: store.Connection, Err: err}
	}
	config.Password = password
	return nil
}

// Config is a copy of the config with the password of the moment.
func (s *Store) Config(ctx context.Context) (*pgx.ConnConfig, error) {
	config := s.config.Copy()
	return config, s.askPassword(ctx, config)
}

// Engine is the name of the engine, postgres.
func (s *Store) Engine() string { return Engine }

// Label is host:port/database; a Unix socket's directory stands for the host.
func (s *Store) Label() string {
	host := net.JoinHostPort(s.config.Host, fmt.Sprint(s.config.Port))
	return escape.Text(host + "/" + s.config.Database)
}

// DB is a pool of connections for what is no part of a run, such as a load and an audit.
func (s *Store) DB() *sql.DB { return s.db }

// Close closes the pool. Connections of users are closed by their users.
func (s *Store) Close() error { return s.db.Close() }

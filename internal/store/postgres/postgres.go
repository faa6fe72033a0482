// Package postgres is the PostgreSQL engine of package store. It speaks to the server through pgconn, and a user's
// session even below that (wire.go), because the client's own CPU time must not be what a benchmark measures. The SQL of
// the database itself is in package schema; what to run and when is not decided here.
package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"ds2/internal/store"
)

// Engine is the engine's name.
const Engine = "postgres"

// Store is a DS2 database in PostgreSQL.
type Store struct {
	config *pgx.ConnConfig
	db     *sql.DB
}

// Open makes a Store of a target URL as libpq takes it: postgres://user:password@host:port/database?options, where what
// is left out comes from libpq's environment variables, password file and defaults. It does not connect.
func Open(target *url.URL) (store.Store, error) {
	config, err := pgx.ParseConfig(target.String())
	if err != nil {
		return nil, fmt.Errorf("read target URL: %w", err) // pgconn leaves the password out
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "ds2"
	}
	return &Store{config: config, db: stdlib.OpenDB(*config)}, nil
}

// Engine returns "postgres".
func (s *Store) Engine() string { return Engine }

// Label is host:port/database; a Unix socket's folder stands for the host.
func (s *Store) Label() string {
	return net.JoinHostPort(s.config.Host, strconv.Itoa(int(s.config.Port))) + "/" + s.config.Database
}

// DB is a pool for everything but orders.
func (s *Store) DB() *sql.DB { return s.db }

// Wrap makes a *store.Error of an error that DB returned.
func (s *Store) Wrap(op string, err error) error { return s.wrap(op, err) }

// Close closes the pool.
func (s *Store) Close() error { return s.db.Close() }

// Copy streams rows of CSV into a table, in a transaction of its own. An empty field is NULL.
func (s *Store) Copy(ctx context.Context, table string, csv io.Reader) (int64, error) {
	op := "copy " + strings.ToLower(table)
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return 0, s.wrap(op, err)
	}
	defer conn.Close()
	var rows int64
	err = conn.Raw(func(driverConn any) error {
		tag, err := driverConn.(*stdlib.Conn).Conn().PgConn().CopyFrom(ctx, csv,
			"COPY "+pgx.Identifier{strings.ToLower(table)}.Sanitize()+" FROM STDIN (FORMAT csv)")
		rows = tag.RowsAffected()
		return err
	})
	return rows, s.wrap(op, err)
}

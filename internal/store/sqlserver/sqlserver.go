// Package sqlserver is the engine of package store for SQL Server 2016 and later and what speaks
// its protocol: Azure SQL Database, Babelfish for PostgreSQL. It talks through go-mssqldb; a user's
// session calls that driver itself, without database/sql's pool between. The SQL of the database
// itself is in package schema; what to run and when is not decided here.
package sqlserver

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"

	"ds2/internal/escape"
	"ds2/internal/store"
	"ds2/schema"
)

// Engine is the engine's name.
const Engine = "sqlserver"

// query is the SQL of a question to a server or a database, by the name of its file.
func query(name string) string { return schema.Query(Engine, name) }

// Experimental is what is said of this engine wherever its figures show, until a first run on
// Microsoft's server has come back clean (docs/howto/sqlserver.md).
const Experimental = "experimental: not yet run on Microsoft's server"

// Store is a database in SQL Server.
type Store struct {
	config msdsn.Config
	// the target where it has Entra ID give the token: go-mssqldb reads it again
	entra        *url.URL
	loginTimeout time.Duration
	password     func(ctx context.Context) (string, error) // nil: the config's
	db           *sql.DB

	opened atomic.Bool // the target's database has been reached once
	asked  sync.Mutex
	server *server // nil until asked

	// the one that waits for a full-text index; nil where none does
	filling atomic.Pointer[schema.Statement]
}

// Open makes a Store of a target URL as go-mssqldb takes it:
// sqlserver://user:password@host:port/instance?database=DS2 with further options such as
// encrypt=true. The database is DS2 where none is named. It does not connect.
func Open(target *url.URL) (store.Database, error) {
	s := &Store{loginTimeout: loginTimeout}
	if err := s.readTarget(target); err != nil {
		return nil, fmt.Errorf("read target URL: %w", err)
	}
	s.db = sql.OpenDB(connector{s, s.config})
	return s, nil
}

// newFedAuthConnector connects as Entra ID says, in builds with the tag azuread.
var newFedAuthConnector func(target string) (*mssql.Connector, error)

// AskPassword has ask give the password of each connection, or an access token where the target
// names no user.
func (s *Store) AskPassword(ask func(ctx context.Context) (string, error)) { s.password = ask }

// Engine is the name of the engine, sqlserver.
func (s *Store) Engine() string { return Engine }

// Label is host:port/database, or host\instance/database for a named instance.
func (s *Store) Label() string {
	host := s.config.Host + `\` + s.config.Instance
	if s.config.Instance == "" {
		host = net.JoinHostPort(s.config.Host, strconv.FormatUint(cmp.Or(s.config.Port, 1433), 10))
	}
	return escape.Text(host + "/" + s.config.Database)
}

// DB is a pool of connections for what is no part of a run, such as a load and an audit.
func (s *Store) DB() *sql.DB { return s.db }

// Close closes the pool. Connections of users are closed by their users.
func (s *Store) Close() error { return s.db.Close() }

// LocksTables marks an engine that loads under a lock of the whole table (bulk): load.TableLocker.
func (s *Store) LocksTables() {}

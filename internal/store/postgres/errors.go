package postgres

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"ds2/internal/store"
)

// Wrap makes a *store.Error of an error of pgconn, pgx or the network; nil stays nil, a
// *store.Error itself.
func (s *Store) Wrap(op string, err error) error {
	err = s.classifyError(op, err)
	if e, ok := errors.AsType[*store.Error](err); ok && e.Class == store.Connection {
		// Whether the server went down, starts again or refuses, this is why.
		e.Hint = cmp.Or(s.fullDrive(), e.Hint)
	}
	return err
}

func (s *Store) classifyError(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*store.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		class, hint := classifySQLState(e.Code)
		if e.Code == diskFull {
			hint = s.whereFull(e.Message)
		}
		return &store.Error{
			Op: op, Class: class, Code: e.Code, Hint: hint,
			NotYet: e.Code == cannotConnectNow, Err: serverError{PgError: e},
		}
	}
	failed := &store.Error{Op: op, Class: store.Connection, Err: err}
	var network *net.OpError
	var name *net.DNSError
	var connect *pgconn.ConnectError
	var length *pgproto3.ExceededMaxBodyLenErr
	switch {
	case isAny(err, context.Canceled):
	// A connection that could not be made is reported once for each address and TLS mode that was
	// tried: the cause says it all.
	case errors.As(err, &network) && network.Op == "dial":
		failed.Op = "connect to " + s.Label()
		failed.Err = network
		failed.Hint = "start the server, or correct the host and port of the target"
		if isAny(network, syscall.EMFILE) {
			failed.Hint = "let this process open more files: ulimit -n, or LimitNOFILE of a service"
		}
	case errors.As(err, &connect) &&
		(isAny(err, context.DeadlineExceeded) || errors.As(err, &length)):
		failed.Op = "connect to " + s.Label()
		failed.Err = errors.New("the connection is accepted, and nothing answers in time")
		if length != nil {
			failed.Err = errors.New("what answers there is not PostgreSQL")
		}
		failed.Hint = "check what listens there, and how busy it is"
	case isAny(err, context.DeadlineExceeded):
	case connect != nil && isAny(err, io.ErrUnexpectedEOF, syscall.ECONNRESET):
		// a proxy whose server is gone
		failed.Err = errClosed
		failed.Hint = "check what listens there, and how busy it is"
	case network != nil && isAny(network, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed):
		failed.Err = errClosed
	case network != nil:
		failed.Err = network
	case errors.As(err, &name):
		failed.Op = "connect to " + s.Label()
		failed.Err = name
		failed.Hint = "correct the host of the target"
	case errors.As(err, &connect):
		failed.Err = lastCause(connect)
	case isAny(err, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn) ||
		pgconn.SafeToRetry(err): // it was sent on a connection that had been closed before
		failed.Err = errClosed
	default:
		failed.Class = store.Bug
	}
	return failed
}

func isAny(err error, any ...error) bool {
	return slices.ContainsFunc(any, func(one error) bool { return errors.Is(err, one) })
}

// errClosed is what the many ways mean in which a connection turns out to be closed.
var errClosed = errors.New("the server closed the connection")

// lastCause is what the last attempt of several failed of.
func lastCause(err error) error {
	if causes, several := err.(interface{ Unwrap() []error }); several {
		all := causes.Unwrap()
		return lastCause(all[len(all)-1])
	}
	if cause := errors.Unwrap(err); cause != nil {
		return lastCause(cause)
	}
	return err
}

// classes are those of SQLSTATEs that begin with one of some texts, and what a user can do about
// them.
var classes = []struct {
	begin string
	class store.Class
	hint  string
}{
	{"40P01", store.Deadlock, ""},
	{"40001", store.Serialization, ""},
	{
		"55P03 57014",
		store.Timeout,
		"",
	}, // lock not available, query cancelled (by statement_timeout, mostly)
	// Shutdown, crash, starting up, the server's idle and transaction timeouts; unknown whether it
	// was committed.
	{"57P01 57P02 57P03 57P05 25P03 25P04 40003", store.Connection, ""},
	// As a standby is, and a primary after a failover.
	{"25006", store.Connection, "name the primary server in the target: this one is read-only"},
	{"58030", store.Resource, "look at the server's log and the drive"}, // I/O error
	{diskFull, store.Resource, "make room on the server's drives"},
	{
		tooManyConnections, store.Resource,
		"raise what the server names (its max_connections, or the connection limit of the " +
			"role or the database), or use fewer threads",
	},
	{"55006", store.Resource, "end what else is connected to it, and try again"}, // database in use
	{
		"28P01 28000",
		store.Config,
		"give the right user and password in the target, PGUSER and PGPASSWORD, or the password file",
	},
	{
		undefinedDatabase,
		store.Config,
		"make it with ds2 load, or with ds2 snapshot restore if a restore was " +
			"interrupted, or name another database in the target",
	},
	{undefinedTable + " 42883 42703", store.Config, // no table, function, column
		"fill the database by ds2 load"},
	{
		"3F000",
		store.Config,
		"name a schema that exists in the search_path of the user or of the database",
	},
	{
		insufficientPrivilege,
		store.Config,
		"give the user of the target the right to do so, or use another",
	},
	// Prepared statements that are there already, or not there.
	{
		"42P05 26000",
		store.Config,
		"connect to the server itself: a pooler in transaction mode gives each transaction " +
			"another session",
	},
	{"08", store.Connection, ""},
	{"53", store.Resource, ""},
}

// classifySQLState gives the class of an SQLSTATE, and what a user can do about it.
func classifySQLState(code string) (store.Class, string) {
	for _, c := range classes {
		for begin := range strings.FieldsSeq(c.begin) {
			if strings.HasPrefix(code, begin) {
				return c.class, c.hint
			}
		}
	}
	return store.Bug, ""
}

// serverError is what the server said, without the prefix and suffix that pgconn prints around it.
type serverError struct{ *pgconn.PgError }

func (e serverError) Error() string {
	if e.Detail == "" {
		return e.Message
	}
	return e.Message + ": " + e.Detail
}

func (e serverError) Unwrap() error { return e.PgError }

// SQLSTATEs on which more depends than the class of an error.
const (
	insufficientPrivilege = "42501"
	undefinedDatabase     = "3D000"
	duplicateDatabase     = "42P04"
	uniqueViolation       = "23505"
	undefinedTable        = "42P01"
	diskFull              = "53100"
	completionUnknown     = "40003"
	queryCanceled         = "57014"
	cannotConnectNow      = "57P03" // it starts or ends
	tooManyConnections    = "53300"
)

// sqlState is the SQLSTATE of a server's error; empty where it is none.
func sqlState(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// lostConnection tells whether an error means that the server ended the connection, as it does when
// one of its processes breaks down over damaged data. A cancelled statement says nothing of the
// data, and the connection stands.
func lostConnection(err error) bool {
	server, ok := errors.AsType[*pgconn.PgError](err)
	return err != nil &&
		(!ok || server.Code[:2] == "08" || server.Code[:2] == "57" && server.Code != queryCanceled)
}

package postgres

import (
	"cmp"
	"context"
	"database/sql/driver"
	_ "embed"
	"errors"
	"io"
	"net"
	"slices"
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

// classifyError says by SQLSTATE what a server refused, and by what the network saw why none
// answered. The order of the cases matters: a connection that could not be made is also late or
// closed, and the most exact of these is told.
func (s *Store) classifyError(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*store.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		cause := causes.Find(e.Code)
		if e.Code == diskFull {
			cause.Hint = s.whereFull(e.Message)
		}
		return &store.Error{
			Op: op, Class: cause.Class, Code: e.Code, Hint: cause.Hint,
			NotYet: e.Code == cannotConnectNow, Err: serverError{PgError: e},
		}
	}
	failed := &store.Error{Op: op, Class: store.Connection, Err: err}
	hint, why := store.FindDialError(err)
	network, isNetwork := errors.AsType[*net.OpError](err)
	connect, isConnect := errors.AsType[*pgconn.ConnectError](err)
	_, tooLong := errors.AsType[*pgproto3.ExceededMaxBodyLenErr](err)
	switch late := isAny(err, context.DeadlineExceeded); {
	case isAny(err, context.Canceled):
	// A connection that could not be made is reported once for each address and TLS mode that was
	// tried: the cause says it all.
	case why != nil:
		failed.Op = "connect to " + s.Label()
		failed.Err = why
		failed.Hint = hint
	case isConnect && (late || tooLong):
		failed.Op = "connect to " + s.Label()
		failed.Err = errors.New("the connection is accepted, and nothing answers in time")
		if tooLong {
			failed.Err = errors.New("what answers there is not PostgreSQL")
		}
		failed.Hint = checkListener
	case late:
	case isConnect && isAny(err, io.ErrUnexpectedEOF, syscall.ECONNRESET):
		// a proxy whose server is gone
		failed.Err = errClosed
		failed.Hint = checkListener
	case isNetwork && isAny(err, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed):
		failed.Err = errClosed
	case isNetwork:
		failed.Err = network
	case isConnect:
		failed.Err = lastCause(connect)
	case isAny(err, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn) ||
		pgconn.SafeToRetry(err): // it was sent on a connection that had been closed before
		failed.Err = errClosed
	default:
		failed.Class = store.Bug
	}
	return failed
}

const checkListener = "check what listens there, and how busy it is"

// isAny tells whether an error is one of several, or was caused by one.
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

//go:embed sqlstates.tsv
var sqlStates string

var causes = store.ReadCauses(sqlStates)

// serverError is what the server said, without the prefix and suffix that pgconn prints around it.
type serverError struct{ *pgconn.PgError }

// Error is the message with its detail, in which the server names the row, the key or the file.
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

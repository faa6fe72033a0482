package sqlserver

import (
	"context"
	"database/sql/driver"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store"
)

// serverError is what the server said, without the prefix and suffix that go-mssqldb prints around
// each message.
type serverError struct{ reply mssql.Error }

// Error joins the messages of one reply: SQL Server tells the cause in one and the consequence in
// the next.
func (e serverError) Error() string {
	if len(e.reply.All) == 0 {
		return e.reply.Message
	}
	var messages []string
	for _, m := range e.reply.All {
		messages = append(messages, m.Message)
	}
	return strings.Join(messages, ": ")
}

func (e serverError) Unwrap() error { return e.reply }

// Wrap makes a *store.Error of an error of go-mssqldb, database/sql or the network; nil stays nil,
// a *store.Error itself.
func (s *Store) Wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*store.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[mssql.Error](err); ok {
		_, login := errors.AsType[*connectError](err)
		code, cause := classifyReply(e, s.opened.Load(), login)
		return &store.Error{
			Op: op, Class: cause.Class, Code: code, Hint: cause.Hint, Err: serverError{e},
		}
	}
	if e, ok := errors.AsType[*connectError](err); ok {
		return e.classifyFailure("connect to " + s.Label())
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return &store.Error{Op: op, Class: store.Connection, Err: e}
	}
	class := store.Bug
	_, torn := errors.AsType[mssql.StreamError](err)
	_, network := errors.AsType[net.Error](err)
	is := func(cause error) bool { return errors.Is(err, cause) }
	if torn || network || slices.ContainsFunc(disconnected, is) {
		class = store.Connection
	}
	return &store.Error{Op: op, Class: class, Err: err}
}

// disconnected are errors of a connection that is lost.
var disconnected = []error{io.EOF, driver.ErrBadConn, context.Canceled, context.DeadlineExceeded}

// classifyFailure classifies what kept a connection from being made and is no message of the
// server's.
func (e *connectError) classifyFailure(op string) error {
	// As text: go-mssqldb words it anew.
	_, said, handshake := strings.Cut(e.err.Error(), "TLS Handshake failed: ")
	if why, refused := strings.CutPrefix(said, "tls: failed to verify certificate: "); refused {
		return store.Refuse(op,
			"add to the target certificate=FILE.pem with the certificate that signed it, or trustservercertificate=true to trust it unseen; if it names another host, add hostnameincertificate=NAME",
			"the server's certificate is refused: %s", why)
	}
	if handshake && !e.broken {
		return store.Refuse(op,
			"client and server do not agree on TLS: give the server a certificate that it can use and TLS 1.2; encrypt=strict needs SQL Server 2022 or later; on a private network, encrypt=disable does without",
			"%w", e.err)
	}
	wrapped := &store.Error{Op: op, Class: store.Connection, Err: e.err}
	hint, why := store.FindDialError(e.err)
	network, isNetwork := errors.AsType[*net.OpError](e.err)
	switch _, unknown := why.(*net.DNSError); {
	case errors.Is(e.err, context.DeadlineExceeded) && !unknown:
		wrapped.Err = fmt.Errorf("the server did not answer the login in time: %w", e.err)
		wrapped.Hint = "look at the server's load; with an access token, check that the server uses Entra ID; give a slow server more time by connection timeout=SECONDS"
	case why != nil:
		wrapped.Err = why
		wrapped.Hint = hint
	case isNetwork && !network.Timeout(),
		strings.Contains(e.err.Error(), "EOF"): // as text: go-mssqldb words it anew
		wrapped.Hint = "the server closed the connection: check that the port is SQL Server's and that the target names a user; encrypt=strict needs SQL Server 2022 or later"
	}
	return wrapped
}

// classifyReply gives the number and the cause of the first of the server's messages that
// says what is wrong; the last one is often only that the statement or the login failed. opened
// says that the database has been reached before, login that a login failed.
func classifyReply(e mssql.Error, opened, login bool) (code string, cause store.Cause) {
	for _, m := range append(e.All, e) {
		code = strconv.Itoa(int(m.Number))
		cause = causes.Find(code)
		switch {
		case opened && slices.Contains(whileStarting, m.Number):
			return code, store.Cause{Class: store.Connection}
		case opened && login && m.Number == babelfishUnmapped:
			cause.Class = store.Connection
		}
		if cause.Class != store.Bug {
			return code, cause
		}
	}
	if isFatal(e) {
		return code, store.Cause{Class: store.Resource, Hint: causes.Find(readFailed).Hint}
	}
	return code, cause
}

// isFatal tells whether the server ends the connection over an error, as it does from severity 20
// on: that is not what is wrong. Where the error came at a commit, what became of that is unknown.
// learn.microsoft.com/sql/relational-databases/errors-events/database-engine-error-severities
func isFatal(e mssql.Error) bool { return e.Class >= 20 }

// readFailed is the number of a failed read or write of a page.
const readFailed = "823"

// whileStarting are the numbers that a server also gives while it recovers a database that was
// there before: it takes logins long before it is done. 18456 is all that some clients are told,
// its state that says why is in the server's log.
var whileStarting = []int32{
	cannotOpen, cannotOpenDefault, cannotOpenFallback, 18456, 927, 942,
	976, 978, // the database's availability group fails over
}

// babelfishUnmapped is Babelfish's number for any error of PostgreSQL's that it has not matched
// with one of SQL Server's: a missing table as well as what cannot be put right. Its class is Bug,
// since the number does not tell.
const babelfishUnmapped = 33557097

//go:embed numbers.tsv
var numbersTable string

// causes are those of error numbers.
var causes = store.ReadCauses(numbersTable)

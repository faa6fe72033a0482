package sqlserver

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"net"
	"strconv"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store"
)

// serverError is what the server said, without the prefix and suffix that go-mssqldb prints around each message.
type serverError struct{ reply mssql.Error }

func (e serverError) Error() string {
	messages := make([]string, 0, len(e.reply.All))
	for _, m := range e.reply.All {
		messages = append(messages, m.Message)
	}
	if len(messages) == 0 {
		return e.reply.Message
	}
	return strings.Join(messages, ": ")
}

func (e serverError) Unwrap() error { return e.reply }

// Wrap makes a *store.Error of an error of go-mssqldb, database/sql or the network; nil stays nil, a *store.Error
// itself.
func (s *Store) Wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*store.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[mssql.Error](err); ok {
		number, class, hint := classify(e)
		return &store.Error{Op: op, Class: class, Code: strconv.Itoa(int(number)), Hint: hint, Err: serverError{e}}
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return &store.Error{Op: op, Class: store.Config, Err: err,
			Hint: "add trustservercertificate=true to the target, or certificate=FILE with the one that signed it"}
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return &store.Error{Op: op, Class: store.Connection, Hint: "correct the host of the target", Err: e}
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		hint := ""
		if e.Op == "dial" {
			hint = "start the server, or correct the host and port of the target"
		}
		return &store.Error{Op: op, Class: store.Connection, Hint: hint, Err: e}
	}
	_, torn := errors.AsType[mssql.StreamError](err)
	_, network := errors.AsType[net.Error](err)
	if torn || network || errors.Is(err, driver.ErrBadConn) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &store.Error{Op: op, Class: store.Connection, Err: err}
	}
	return &store.Error{Op: op, Class: store.Bug, Err: err}
}

// classify gives the number, the class and the hint of the first of the server's messages that says what is wrong; the
// last one is often only that the statement failed.
func classify(e mssql.Error) (number int32, class store.Class, hint string) {
	for _, m := range append(e.All, e) {
		if class, hint := classOf(m.Number); class != store.Bug {
			return m.Number, class, hint
		}
	}
	if e.Class >= 20 { // the server closes the connection
		return e.Number, store.Connection, ""
	}
	class, hint = classOf(e.Number)
	return e.Number, class, hint
}

// babelfishUnmapped is Babelfish's number for any error of PostgreSQL's that it has not matched with one of SQL Server's: a
// missing table as well as what nobody can put right. Its class is Bug, since the number does not tell.
const babelfishUnmapped = 33557097

// classOf gives the class of an error number of SQL Server, and what a user can do about it.
func classOf(number int32) (store.Class, string) {
	switch number {
	case 1205:
		return store.Deadlock, ""
	case 3960, 41302, 41305, 41325: // update conflicts under snapshot isolation and in memory-optimized tables
		return store.Serialization, ""
	case 1222: // lock request time-out; a time-out of the client is the end of its context
		return store.Timeout, ""
	case 596, 6005, 6006, 17142, 17147, 18401, 921, 922, 927, 40197, 40613: // killed, shut down, paused, starting, recovering
		return store.Connection, ""
	case 1101, 1105, 5149:
		return store.Resource, "make room on the server's drives, or give the database larger files"
	case 9002:
		return store.Resource, "the log is full: make room on the log's drive, or back the log up"
	case 701, 802, 8645, 8651, 10928, 10929, 17803, 40501, 40544: // memory, Azure's limits
		return store.Resource, ""
	case 17809:
		return store.Resource, "raise the server's user connections or use fewer threads"
	case 823, 824, 825:
		return store.Resource, "look at the server's error log and the drive"
	case 18452, 18456, 18470, 18486, 18487, 18488:
		return store.Config, "give the right user and password in the target"
	case 911, 4060:
		return store.Config, "make it with ds2 load, or name another database in the target"
	case 201, 207, 208, 2812, 8144, 8145, 8146: // no column, table or procedure, or one of another shape
		return store.Config, "the database holds no DS2 that this kit can use: fill it with ds2 load"
	case 229, 230, 262, 297, 300, 916:
		return store.Config, "give the login of the target the right to do so, or use another"
	case 4860, 4861: // a file of BULK INSERT that is not there, or not to be opened
		return store.Config, "name the folder in --server-dir as the server sees it, and let the server's own account read it"
	case 4834:
		return store.Config, "grant the login ADMINISTER BULK OPERATIONS, or leave --server-dir out"
	case babelfishUnmapped:
		return store.Bug, "Babelfish gives this number to every error that SQL Server has none for: where a table is missing, fill the database with ds2 load"
	case 7601, 7609:
		return store.Config, "install the server's full-text search: two of the browses need it"
	}
	return store.Bug, ""
}

package sqlserver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver/target"
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
		_, login := errors.AsType[*connectError](err)
		number, class, hint := classify(e, s.opened.Load(), login)
		return &store.Error{Op: op, Class: class, Code: strconv.Itoa(int(number)), Hint: hint, Err: serverError{e}}
	}
	if e, ok := errors.AsType[*connectError](err); ok {
		return e.wrap("connect to " + s.Label())
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return &store.Error{Op: op, Class: store.Connection, Err: e}
	}
	_, torn := errors.AsType[mssql.StreamError](err)
	_, network := errors.AsType[net.Error](err)
	if torn || network || errors.Is(err, io.EOF) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &store.Error{Op: op, Class: store.Connection, Err: err}
	}
	return &store.Error{Op: op, Class: store.Bug, Err: err}
}

// wrap classifies what kept a connection from being made and is no message of the server's.
func (e *connectError) wrap(op string) error {
	if e.certificate != nil {
		return store.Refuse(op,
			"add trustservercertificate=true to the target to trust it unseen, or certificate=FILE with the certificate that signed it; for another name in it, hostnameincertificate=NAME",
			"the server's certificate is refused: %w", e.certificate)
	}
	if e.tls {
		return store.Refuse(op,
			"client and server do not agree on TLS: give the server a certificate that it can use and TLS 1.2; encrypt=strict needs SQL Server 2022 or later; on a network that nobody else reads, encrypt=disable does without",
			"%w", e.err)
	}
	if dns, ok := errors.AsType[*net.DNSError](e.err); ok {
		return &store.Error{Op: op, Class: store.Connection, Hint: "correct the host of the target", Err: dns}
	}
	if errors.Is(e.err, context.DeadlineExceeded) {
		return &store.Error{Op: op, Class: store.Connection, Err: fmt.Errorf("the server did not answer the login in time: %w", e.err),
			Hint: "look at the server's load; with an access token, at whether the server knows Entra ID; give a slow one longer by connection timeout=SECONDS"}
	}
	network, ok := errors.AsType[*net.OpError](e.err)
	if ok && network.Op == "dial" {
		return &store.Error{Op: op, Class: store.Connection, Err: network,
			Hint: "start the server, or correct the host and port of the target"}
	}
	hint := ""
	if ok && !network.Timeout() || errors.Is(e.err, io.EOF) || errors.Is(e.err, io.ErrUnexpectedEOF) || strings.Contains(e.err.Error(), "EOF") { // as text where go-mssqldb words it anew
		hint = "the server closed the connection: look at whether the port is SQL Server's, the target names a user, and encrypt=strict is for SQL Server 2022 or later"
	}
	return &store.Error{Op: op, Class: store.Connection, Hint: hint, Err: e.err}
}

// classify gives the number, the class and the hint of the first of the server's messages that says what is wrong; the
// last one is often only that the statement or the login failed. opened says that the database has been reached before,
// login that a login failed.
func classify(e mssql.Error, opened, login bool) (number int32, class store.Class, hint string) {
	for _, m := range append(e.All, e) {
		if opened && whileStarting[m.Number] {
			return m.Number, store.Connection, ""
		}
		if opened && login && m.Number == babelfishUnmapped {
			_, hint := classOf(m.Number)
			return m.Number, store.Connection, hint
		}
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

// whileStarting are the numbers that a server also gives while it recovers a database that was there before: it takes
// logins long before it is done. 18456 is all that some clients are told, its state that says why is in the server's
// log.
var whileStarting = map[int32]bool{
	target.CannotOpen: true, target.CannotOpenDefault: true, target.CannotOpenFallback: true, 18456: true, 927: true, 942: true,
	976: true, 978: true, // the database's availability group fails over
}

// babelfishUnmapped is Babelfish's number for any error of PostgreSQL's that it has not matched with one of SQL
// Server's: a missing table as well as what nobody can put right. Its class is Bug, since the number does not tell.
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
	case 596, 6005, 6006, 17142, 17147, 17148, 17187, 17188, 17189, 18401, // killed, shut down, paused, starting
		615, 921, 922, 952, 983, 4221, // the database was closed under the session, recovering, in transition, not this replica, a replica that waits for its log
		40143, 40197, 40540, 40613, 42108, 42109: // Azure: moved, unavailable, paused, waking up
		return store.Connection, ""
	case 30046, 30053: // Microsoft's numbers of full-text search: the word breaker, the query
		return store.Resource, "the server's full-text search has no resources for the query, or timed out: look at its error log and the memory that max server memory leaves it"
	case 1101, 1105, 5149:
		return store.Resource, "make room on the server's drives, or give the database larger files"
	case 9002:
		return store.Resource, "the log is full: make room on the log's drive, or back the log up"
	case 701, 802, 1204, 8645, 8651, 10928, 10929, 10936, 17803, 40501, 40544, 49918, 49919, 49920: // memory, locks, Azure's limits
		return store.Resource, ""
	case 17809:
		return store.Resource, "raise the server's user connections or use fewer threads"
	case 823, 824, 825:
		return store.Resource, "look at the server's error log and the drive"
	case 18452, 18456, 18470, 18486, 18487, 18488:
		return store.Config, "give the right user and password in the target"
	case target.NoSuchDatabase, target.CannotOpen, target.CannotOpenDefault, target.CannotOpenFallback:
		return store.Config, "it is not there, not online, or closed to this login: ds2 load says which, and makes it where it is not there"
	case 927:
		return store.Config, "a restore of the database is not finished: restore it with ds2 snapshot restore"
	case 926: // suspect
		return store.Config, "the server could not recover the database: look at its error log, then restore it"
	case 945:
		return store.Config, "the server cannot open the database's files, or lacks memory or room for them: look at its error log"
	case 3906:
		return store.Config, "the database is read-only: ALTER DATABASE … SET READ_WRITE, or name the replica that takes writes"
	case 976, 978:
		return store.Config, "the replica takes no queries, or none that change anything: name the primary one, or the availability group's listener"
	case 1468:
		return store.Config, "ALTER AVAILABILITY GROUP … REMOVE DATABASE first: the server refuses this within a group"
	case 942:
		return store.Config, "set it online: ALTER DATABASE … SET ONLINE"
	case 201, 207, 208, 2812, 8144, 8145, 8146: // no column, table or procedure, or one of another shape
		return store.Config, "fill the database by ds2 load, or, if DVD Store's own scripts made it, take it over by ds2 load --adopt"
	case 229, 230, 262, 297, 300, 916, 2571, 7983:
		return store.Config, "give the login of the target the right to do so, or use another"
	case 15118:
		return store.Config, "choose a password that the server's policy takes, eight characters or more of three kinds"
	case 1802, 1803, 5123, 5133: // CREATE DATABASE; 1802 only says that the others came before
		return store.Config, "name existing directories with --data-dir and --log-dir in which the server's own account may write, with enough room"
	case 3110:
		return store.Config, "give the login of the target the role dbcreator, or make it the database's owner"
	case 3201, 3202:
		return store.Config, "make the backup with ds2 snapshot create; let the server's own account read and write its backup directory, and make room there"
	case 4860, 4861: // a file of BULK INSERT that is not there, or not to be opened
		return store.Config, "name the directory in --server-dir as the server sees it, and let the server's own account read it"
	case 4834:
		return store.Config, "on Windows grant the login ADMINISTER BULK OPERATIONS; on Linux it must be a member of sysadmin or, from 2022 CU24 and 2025 CU3 on, of bulkadmin with the directory in mssql-conf set bulkadmin.allowedpathslist; or leave --server-dir out"
	case babelfishUnmapped:
		return store.Bug, "Babelfish gives this number to every error that SQL Server has none for: the text is PostgreSQL's"
	case 7601, 7609:
		return store.Config, "install the server's full-text search: the workload searches by it"
	}
	return store.Bug, ""
}

package sqlserver

import (
	"context"
	"database/sql/driver"
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
		number, class, hint := classifyReply(e, s.opened.Load(), login)
		return &store.Error{
			Op:    op,
			Class: class,
			Code:  strconv.Itoa(int(number)),
			Hint:  hint,
			Err:   serverError{e},
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
	_, said, handshake := strings.Cut(
		e.err.Error(),
		"TLS Handshake failed: ",
	) // as text: go-mssqldb words it anew
	if why, refused := strings.CutPrefix(said, "tls: failed to verify certificate: "); refused {
		return store.Refuse(
			op,
			"add trustservercertificate=true to the target to trust it unseen, or "+
				"certificate=FILE.pem with the certificate that signed it; for another name in it, "+
				"hostnameincertificate=NAME",
			"the server's certificate is refused: %s",
			why,
		)
	}
	if handshake && !e.broken {
		return store.Refuse(
			op,
			"client and server do not agree on TLS: give the server a certificate that it can use "+
				"and TLS 1.2; encrypt=strict needs SQL Server 2022 or later; on a private network, "+
				"encrypt=disable does without",
			"%w",
			e.err,
		)
	}
	wrapped := &store.Error{Op: op, Class: store.Connection, Err: e.err}
	unknown, isUnknown := errors.AsType[*net.DNSError](e.err)
	network, isNetwork := errors.AsType[*net.OpError](e.err)
	switch {
	case isUnknown:
		wrapped.Err = unknown
		wrapped.Hint = "correct the host of the target"
	case errors.Is(e.err, context.DeadlineExceeded):
		wrapped.Err = fmt.Errorf("the server did not answer the login in time: %w", e.err)
		wrapped.Hint = "look at the server's load; with an access token, at whether the server knows Entra ID; " +
			"give a slow one longer by connection timeout=SECONDS"
	case isNetwork && network.Op == "dial":
		wrapped.Err = network
		wrapped.Hint = "start the server, or correct the host and port of the target"
	case isNetwork && !network.Timeout(),
		strings.Contains(e.err.Error(), "EOF"): // as text: go-mssqldb words it anew
		wrapped.Hint = "the server closed the connection: check that the port is SQL Server's and that the target " +
			"names a user; encrypt=strict needs SQL Server 2022 or later"
	}
	return wrapped
}

// classifyReply gives the number, the class and the hint of the first of the server's messages that
// says what is wrong; the last one is often only that the statement or the login failed. opened
// says that the database has been reached before, login that a login failed.
func classifyReply(
	e mssql.Error, opened, login bool,
) (number int32, class store.Class, hint string) {
	for _, m := range append(e.All, e) {
		number = m.Number
		class, hint = classOf(number)
		switch {
		case opened && slices.Contains(whileStarting, number):
			return number, store.Connection, ""
		case opened && login && number == babelfishUnmapped:
			return number, store.Connection, hint
		case class != store.Bug:
			return number, class, hint
		}
	}
	if isFatal(e) {
		return number, store.Resource, driveHint
	}
	return number, class, hint
}

// isFatal tells whether the server ends the connection over an error, as it does from severity 20
// on: that is not what is wrong. Where the error came at a commit, what became of that is unknown.
// learn.microsoft.com/sql/relational-databases/errors-events/database-engine-error-severities
func isFatal(e mssql.Error) bool { return e.Class >= 20 }

const driveHint = "look at the server's error log and the drive"

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

// classOf gives the class of an error number of SQL Server, and what a user can do about it.
func classOf(number int32) (store.Class, string) {
	for class, hints := range causes {
		for hint, numbers := range hints {
			if slices.Contains(numbers, number) {
				return class, hint
			}
		}
	}
	return store.Bug, ""
}

// causes are error numbers by their class and by what a user can do; each stands once.
var causes = map[store.Class]map[string][]int32{
	store.Deadlock: {"": {1205}},
	// Update conflicts under snapshot isolation and in memory-optimized tables.
	store.Serialization: {"": {3960, 41302, 41305, 41325}},
	// Of a lock request; a time-out of the client is the end of its context.
	store.Timeout: {"": {1222}},
	store.Connection: {"": {
		// Killed, shut down, paused, starting.
		596, 6005, 6006, 17142, 17147, 17148, 17187, 17188, 17189, 18401,
		// The database was closed, is recovering, in transition, not on this replica, which waits.
		615, 921, 922, 952, 983, 4221,
		// The network failed, a session could not be used again.
		4014, 18056,
		// Azure moved it, or it is unavailable, paused, waking up.
		40143, 40197, 40540, 40613, 42108, 42109,
	}},
	store.Resource: {
		"": {
			701, 802, 1204, 8645, 8651, 17803, // memory, locks
			10928, 10929, 10936, 40501, 40544, 49918, 49919, 49920, // Azure's limits
		},
		// Microsoft's numbers of full-text search: the word breaker, the query.
		"the server's full-text search has no resources for the query, or timed out: look at its error log and the " +
			"memory that max server memory leaves it": {30046, 30053},
		"make room on the server's drives, or give the database larger files": {1101, 1105, 5149},
		"the log is full: make room on the log's drive, or back the log up":   {9002},
		"raise the server's user connections or use fewer threads":            {17809},
		// Failed reads and writes of pages, and of the log: 9001 says that it is not available,
		// 3314 that a transaction could not be undone.
		driveHint: {823, 824, 825, 832, 211, 605, 3314, 3624, 5242, 5243, 9001, 9004, 9100},
		"Azure ended a transaction that ran long, held too many locks or filled the log: " +
			"choose a larger service objective, or load with fewer sessions": {40549, 40550, 40552},
	},
	store.Config: {
		"give the right user and password in the target": {18452, 18456, 18470, 18486, 18487, 18488},
		"the database does not exist, is offline, or is closed to this login: " +
			"ds2 load says which, and creates it if it does not exist": {
			noSuchDatabase, cannotOpen, cannotOpenDefault, cannotOpenFallback,
		},
		"a restore of the database is not finished: restore it with ds2 snapshot restore": {927},
		// suspect
		"the server could not recover the database: look at its error log, then restore it":                    {926},
		"the server cannot open the database's files, or lacks memory or room for them: look at its error log": {945},
		"the database is read-only: ALTER DATABASE … SET READ_WRITE, or name the replica that accepts writes":  {3906},
		"the replica accepts no queries, or only reads: " +
			"name the primary, or the availability group's listener": {976, 978},
		"ALTER AVAILABILITY GROUP … REMOVE DATABASE first: the server refuses this within a group": {1468},
		"set it online: ALTER DATABASE … SET ONLINE":                                               {942},
		// No column, table or procedure, or one of another shape.
		"fill the database by ds2 load": {201, 207, 208, 2812, 8144, 8145, 8146},
		"give the login of the target the right to do so, or use another, such as an administrator or the " +
			"database's owner": {
			229, 230, 262, 297, 300, 916, 2557, 2571, 5011, 7983, 15003, 15151, 15247,
		},
		"choose a password that the server's policy accepts, eight characters or more of three kinds": {
			15118, 33062, 33063, 33064, 40630, 40632,
		},
		// CREATE DATABASE; 1802 only says that the others came before.
		"name existing directories with --data-dir and --log-dir in which the server's own account may write, " +
			"with enough room": {1802, 5123, 5133},
		// 1803: SIZE is below that of the database model.
		"the files would be smaller than those of the database model, or than they are: " +
			"load a larger size, or shrink model": {1803, 5030, 5039},
		"the backup is of a newer server: make the snapshot again on this one": {3169},
		"the backup cannot be read: make it again with ds2 snapshot create, and look at its drive": {
			3241, 3203, 3271,
		},
		"give the login of the target the role dbcreator, or make it the database's owner": {3110},
		"make the backup with ds2 snapshot create; " +
			"let the server's own account read and write its backup directory, and make room there": {3201, 3202},
		// A file of BULK INSERT that is not there, or not to be opened.
		"name the directory in --server-dir as the server sees it, and let the server's own account read it": {
			4860, 4861,
		},
		"on Windows grant the login ADMINISTER BULK OPERATIONS; on Linux it must be a " +
			"member of sysadmin or, from 2022 CU24 and 2025 CU3 on, of bulkadmin with the directory in " +
			"mssql-conf set bulkadmin.allowedpathslist; or leave --server-dir out": {4834},
		"install the server's full-text search: the workload searches by it": {7601, 7609},
	},
	store.Bug: {
		"Babelfish gives this number to every error that SQL Server has none for: " +
			"the text is PostgreSQL's": {babelfishUnmapped},
	},
}

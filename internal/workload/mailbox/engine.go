package mailbox

import (
	"context"

	"ds2/internal/store"
	"ds2/internal/workload"
)

// Engine is the workload's calls on the stores of one engine.
type Engine interface {
	// ByKey says that a load takes rows best in the order of their keys, by which the table lies.
	ByKey() bool

	// SharesLog says that the databases of a server have one log together.
	SharesLog() bool

	// Check refuses parameters that a database cannot serve: it may have no lazy commits, or no
	// others. The error is a *workload.Refusal, or a *store.Error where the database could not be
	// asked.
	CheckParameters(ctx context.Context, target store.Database, p Parameters) error

	// Connect opens a connection for one user, with everything prepared that its operations need.
	ConnectUser(ctx context.Context, target store.Database) (Session, error)

	// Bytes is what the records and their index take in the database.
	TableBytes(ctx context.Context, target store.Database) (int64, error)

	// Counted is how many records the server says that there are, without reading them or an index
	// of all of them; UnknownRecords where it does not count.
	CountRecords(ctx context.Context, target store.Database) (int64, error)

	// Direct says how a server with settings keeps its files out of the operating system's cache;
	// empty where it does not.
	DescribeDirectIO(settings map[string]string) string
}

// UnknownRecords is a number of records that a server does not know.
const UnknownRecords = -1

// Session is one user's connection.
type Session interface {
	// Transact carries an operation out, in one transaction and one round trip. Lazy has the server
	// acknowledge it before its log is on the drive. The record of a Read is filled in, but not
	// checked; Found is set where the operation found its record, or, for an Insert, where it
	// inserted one. An error means that it did not take place, or is in doubt.
	Transact(ctx context.Context, step *Step, lazy bool) error

	// Close ends the connection.
	Close(ctx context.Context) error
}

// Step is one operation.
type Step struct {
	Op     workload.Op // Read, Insert, Replace or Delete
	Number uint64      // of the record
	Record Record      // its key and, where it is written, the rest
	Found  bool
}

// Package store is what the rest of the kit knows of a database: the contract that an engine fulfils (this file), classes of
// errors, and what the kit notes in a database. What users of a workload call on a database is in the rooms of that workload. SQL
// belongs in package schema, protocol details in the engine packages below this one, and decisions about what to run belong to
// workload and driver.
package store

import (
	"context"
	"database/sql"
	"io"
	"time"

	"ds2/internal/progress"
	"ds2/schema"
)

// This file is the contract between the engines and the rest of the kit. An engine's store is a Store and a Loader; of the
// other interfaces it has those that its server can serve, and its package asserts each. Package storetest asks every engine
// whether it keeps the contract.

// Store is one database under test, whatever its workload.
type Store interface {
	// Engine is the engine's name as used by --engine and by package schema, such as "postgres".
	Engine() string

	// Label names the target as host:port/database, without user or password: fit for logs, records and metrics.
	Label() string

	// Here says whether its server runs on this machine, by the server's process or its files. Its address does not tell: that of
	// a tunnel is localhost. It is false where nobody can see either.
	Here(ctx context.Context) bool

	// DB is a pool for schema, audits and counters. The work of users never goes through it.
	DB() *sql.DB

	// Wrap makes an *Error of an error that DB returned, and nil of nil: op says what failed, as a bare verb phrase.
	Wrap(op string, err error) error

	// Close closes the pool; sessions are closed by their users.
	Close() error
}

// Loader is a Store that can be filled. A step of a load and the note of its name in the table ds2_steps are one
// transaction, so that a load that was killed can be resumed: a step is there whole and noted, or not at all.
type Loader interface {
	Store

	// Database is the name of the target's database.
	Database() string

	// Adapt asks the server what it is and fills in what the SQL depends on. It returns a line for each thing that the
	// server cannot take and that the benchmark does without.
	Adapt(ctx context.Context, p *schema.Params) (leftOut []string, err error)

	// CreateDatabase runs the statements of schema.Database that are due: see schema.Statement.UnlessExists.
	CreateDatabase(ctx context.Context, statements []schema.Statement) error

	// CopyStep streams rows of CSV, as package datagen writes them, into a table and returns how many there were.
	CopyStep(ctx context.Context, step, table string, csv io.Reader) (rows int64, err error)

	// ExecStep runs a statement, with the session's settings made for heavy work. Where the server refuses it in a
	// transaction it is noted afterwards; it may then run twice.
	ExecStep(ctx context.Context, statement schema.Statement) error

	// Progress gives the share that is done, 0 to 1, of each running statement of which the server tells, by the
	// statements' names.
	Progress(ctx context.Context) (map[string]float64, error)
}

// TableLocker is a Loader whose CopyStep locks the whole table: the parts of a table go in one after the other, and so do the
// statements of a step that work on the same table.
type TableLocker interface {
	LocksTables()
}

// TableFiller is a Loader that writes the rows of a table once when one session brings them all: nothing is left to be vacuumed.
type TableFiller interface {
	// FillStep is CopyStep with all rows of a table, which is emptied before.
	FillStep(ctx context.Context, step, table string, csv io.Reader) (rows int64, err error)
}

// BinaryCopier is a Loader that takes rows in a binary format of its server's.
type BinaryCopier interface {
	// CopyBinaryStep is CopyStep with rows in that format.
	CopyBinaryStep(ctx context.Context, step, table string, rows io.Reader) (copied int64, err error)
}

// Resetter is a Store that can take its database back to the state after the load without loading again.
type Resetter interface {
	// Reset runs the statements of schema.Reset, which remove what runs added and undo what they changed, for the most part in one
	// transaction. The rows, as CSV, are copied where a statement says so. It calls begin with the name of each statement that
	// begins.
	Reset(ctx context.Context, statements []schema.Statement, rows io.Reader, begin func(statement string)) error
}

// Snapshotter is a Store that keeps a copy of its whole database beside it. There is at most one.
type Snapshotter interface {
	// SnapshotRoom says what room database and copy take. Of a database that is half restored it may not be known.
	SnapshotRoom(ctx context.Context) (SnapshotRoom, error)

	// CreateSnapshot makes the copy, in the place of an older one, which is kept until the new one is whole: whenever it is
	// cut off, one of the two is there. Nobody may be at work on the database.
	CreateSnapshot(ctx context.Context, tell progress.Tell) error

	// RestoreSnapshot puts the copy in the database's place; whoever is connected to it is disconnected. The copy stays.
	RestoreSnapshot(ctx context.Context, tell progress.Tell) error

	// DropSnapshot removes the copy.
	DropSnapshot(ctx context.Context) error
}

// SnapshotRoom is the room that a database and its copy take on the server's drives, in bytes.
type SnapshotRoom struct {
	Database    int64    // 0: it does not exist, or nobody knows
	Copy        int64    // that there is; 0: none
	Directories []string // of the server's machine that hold the database and will hold its copy; none: nobody knows
	Here        bool     // they are of this machine
	Clones      bool     // the copy may share its blocks with the database, and then takes no room
}

// PasswordAsker is a Store that can ask for its password, or for a token in its place, each time it connects.
type PasswordAsker interface {
	// AskPassword has ask give the password of every connection from now on. It is called before the Store connects.
	AskPassword(ask func(ctx context.Context) (string, error))
}

// LogKeeper is a Store whose server keeps all of its log until somebody backs it up.
type LogKeeper interface {
	// LogSpace is the size of the log and how much of it is in use. kept says that only a backup of the log frees that.
	LogSpace(ctx context.Context) (size, used int64, kept bool, err error)

	// DiscardLog backs the log up to nowhere, which frees its room and ends the chain of its backups: the database can be
	// restored to no time after the last full backup, until the next one.
	DiscardLog(ctx context.Context) error
}

// Checkpointer is a Store that can have its server write all changed pages to the drives.
type Checkpointer interface {
	// Checkpoint returns when a checkpoint is done, so that a run begins with nothing left to write of what came before.
	Checkpoint(ctx context.Context) error
}

// BufferCounter is a Store that knows how much of its server's own cache is in use.
type BufferCounter interface {
	Buffers(ctx context.Context) (Buffers, error)
}

// Buffers is the state of a server's own cache.
type Buffers struct {
	Share     float64 // of it that holds pages, 0 to 1
	Estimated bool    // by the pages that the server has read since its statistics began
	Fits      bool    // the database is smaller than the cache, which it may never fill
}

// Placer is a Store that knows where its tables and indexes lie.
type Placer interface {
	// Placement lists the tables and indexes, the largest first.
	Placement(ctx context.Context) ([]Placed, error)
}

// Adviser is a Store that knows what of its server's configuration makes a run say less about the drives than it seems to.
type Adviser interface {
	// Advise gives the reason why the drives may see hardly a read, empty where they will, and one sentence for each thing
	// else that a user should know before a run of a length; 0: no run is near. The server may use so many bytes of memory;
	// 0: nobody knows.
	Advise(ctx context.Context, run time.Duration, memory int64) (reads string, others []string, err error)
}

// Examiner is a Store that can look before a run whether its server has what the run needs.
type Examiner interface {
	// Examine asks the server about its version, the user's rights, connections and log. It changes nothing. What cannot be
	// asked is a finding too; the error is only about a server that cannot be reached.
	Examine(ctx context.Context, need Need) (Examination, error)
}

// Need is what a run needs of a server.
type Need struct {
	Users      int  // that connect
	Checkpoint bool // before the run
}

// Examination is what was found.
type Examination struct {
	Findings  []Finding
	LogGrowth int64 // bytes that the files of the log may still grow by on their own; negative: nobody knows
}

// Finding is one thing that was looked at before a run.
type Finding struct {
	What  string `json:"check"` // such as "connections"
	State State  `json:"state"`
	Found string `json:"found"`
	Do    string `json:"do,omitempty"` // where the state is not OK
}

// State is how good a finding is.
type State string

// The states.
const (
	OK      State = "ok"
	Warning State = "warning" // the run may say less than it seems to, or end early
	Failure State = "failure" // there will be no run
)

// DeepChecker is a Store that can check itself to the last page with its server's own means.
type DeepChecker interface {
	// DeepCheck reads every page of every table and index of the database and checks what it reads. Damage is no error: it
	// stands in the result, and the check goes on after it. The result so far is returned with an error too. The database
	// should be at rest: some checks keep writers waiting.
	DeepCheck(ctx context.Context, how DeepReading, tell progress.Tell) (DeepCheck, error)
}

// Scrubber is a Store whose database can be read from its drives as a background scan does, beside users at work.
type Scrubber interface {
	// OpenScrub connects a Reader of the database's files, in their order, in requests of ScrubRequest, past the server's own
	// cache where that can be; after the last page it begins again.
	OpenScrub(ctx context.Context) (Reader, error)
}

// ScrubRequest is how many bytes a scrub asks for at once; at the end of a file they are fewer.
const ScrubRequest = 256 << 10

// LogSender is a Store whose server sends its log to readers, as it does to copies of the database.
type LogSender interface {
	// OpenLog connects a Reader of the log, from its end on. What it takes on the server, such as a slot, ends with its
	// connection, however that ends.
	OpenLog(ctx context.Context) (Reader, error)
}

// Reader reads what lies on a server's drives, and throws it away. It belongs to one goroutine.
type Reader interface {
	// Read makes one request, or waits for what comes next. After an error of class Connection the Reader is of no use; after
	// another one it goes on behind what could not be read.
	Read(ctx context.Context) (Read, error)

	// Close disconnects.
	Close()
}

// Read is what one request read.
type Read struct {
	Bytes  int64
	Device int64 // of these, what came from drives and not from the kernel's cache; negative: nobody knows
	Last   bool  // there is nothing after it: the next request begins again
}

// Debtor is a Store whose server puts work off that changes make, and can be made to do it.
type Debtor interface {
	// CanSettle is an error where the user has not the rights that Settle takes.
	CanSettle(ctx context.Context) error

	// Settle has the server write the pages that changed, and clean the room of rows that were removed or replaced, until nothing
	// is left or no more goes. Nobody may be at work. step is told the name of each step as it begins.
	Settle(ctx context.Context, step func(name string)) (Settled, error)
}

// Settled is what a server had put off.
type Settled struct {
	Before int64 // rows that were removed or replaced and still took room, as the server counts them
	After  int64 // of these, what is left: somebody may still see them
}

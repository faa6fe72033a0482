// Package store is what the rest of the kit knows of a database: the contract that an engine fulfils (this file),
// classes of errors, and what the kit notes in a database. What users of a workload call on a database is in the rooms
// of that workload. SQL belongs in package schema, protocol details in the engine packages below this one, and
// decisions about what to run belong to workload and driver.
package store

import (
	"context"
	"database/sql"
	"io"
	"time"

	"ds2/internal/progress"
	"ds2/schema"
)

// This file is the contract between the engines and the rest of the kit: what every engine can do is in Database, what
// only some servers can is a field of Capabilities. Package storetest asks every engine whether it keeps the contract.

// Database is one database under test, whatever its workload.
type Database interface {
	Loader
	Locker

	// Can is what the server can do besides.
	Can() Capabilities

	// AskPassword has ask give the password, or a token in its place, of every connection from now on. It is called
	// before the Database connects.
	AskPassword(ask func(ctx context.Context) (string, error))

	// Engine is the engine's name as used by --engine and by package schema, such as "postgres".
	Engine() string

	// Label names the target as host:port/database, without user or password: fit for logs, records and metrics.
	Label() string

	// Here says whether its server runs on this machine, by the server's process or its files. Its address does not
	// tell: that of a tunnel is localhost. It is false where nobody can see either.
	Here(ctx context.Context) bool

	// DB is a pool for schema, audits and counters. The work of users never goes through it.
	DB() *sql.DB

	// Wrap makes an *Error of an error that DB returned, and nil of nil: op says what failed, as a bare verb phrase.
	Wrap(op string, err error) error

	// Close closes the pool; sessions are closed by their users.
	Close() error
}

// Capabilities are what only some servers can do; nil: this one cannot. Whoever asks for what it cannot is refused by
// Cannot.
type Capabilities struct {
	// LocksTables says that LoadRows locks the whole table: the parts of a table go in one after the other, and so do
	// the statements of a step that work on the same table.
	LocksTables bool

	// LoadTable is LoadRows with all rows of a table, which is emptied before, in one session: the rows are frozen as
	// they are written, so that no vacuum has to write them again.
	LoadTable func(ctx context.Context, step, table string, csv io.Reader) (rows int64, err error)

	// LoadBinary is LoadRows with rows in a binary format of the server's.
	LoadBinary func(ctx context.Context, step, table string, rows io.Reader) (copied int64, err error)

	// Reset runs the statements of schema.Reset, which take the database back to the state after the load, for the most
	// part in one transaction. The rows, as CSV, are copied where a statement says so. It calls begin with the name of
	// each statement that begins.
	Reset func(ctx context.Context, statements []schema.Statement, rows io.Reader, begin func(string)) error

	Snapshots Snapshotter

	// Checkpoint has the server write all changed pages, so that a run begins with nothing left to write of what came
	// before.
	Checkpoint func(ctx context.Context) error

	// DropCache empties the cache of the whole server, but for pages that changed: a checkpoint comes first.
	DropCache func(ctx context.Context) error

	// MayCheckpoint is an error where the server or the user's rights do not allow a Checkpoint, and so are the others
	// of what they name. Nothing is changed.
	MayCheckpoint, MayDropCache, MayDeepCheck func(ctx context.Context) error

	// IOFaults looks for failed and very slow I/Os of the database's files, as the server notes them from now on: since
	// gives those, a line each.
	IOFaults func(ctx context.Context) (since func(ctx context.Context) ([]string, error), err error)

	// Log is kept by a server until somebody backs it up.
	Log LogKeeper

	// Buffers says how much of the server's own cache is in use.
	Buffers func(ctx context.Context) (Buffers, error)

	// Placement lists where tables and indexes lie, the largest first.
	Placement func(ctx context.Context) ([]Placed, error)

	// Advise tells what of the server's configuration makes a run say less about the drives than it seems to: why they
	// may see hardly a read, empty where they will, and one sentence for each thing else that a user should know before
	// a run of a length; 0: no run is near. The server may use so many bytes of memory; 0: nobody knows.
	Advise func(ctx context.Context, run time.Duration, memory int64) (reads string, others []string, err error)

	// Examine asks the server, before a run of so many users, about its version, rights, connections and log. It
	// changes nothing. What cannot be asked is a finding too; the error is only about a server that cannot be reached.
	Examine func(ctx context.Context, users int) (Examination, error)

	// Surroundings asks what a run is made in, to be compared before and after it.
	Surroundings func(ctx context.Context) (Surroundings, error)

	// Waits says what statements of this process wait for since a while, by what holds them up, such as a process.
	Waits func(ctx context.Context, since time.Duration) (map[string]string, error)

	// BulkRead tells the server how an audit reads large tables. Without it they are read with the session's own
	// settings, each in one statement.
	BulkRead BulkReader

	// Changed is how many rows have been updated in some tables, and deleted from others, since the server's statistics
	// began.
	Changed func(ctx context.Context, updated, deleted []string) (int64, error)

	// DeepCheck reads every page of every table and index of the database by the server's own means, and checks what it
	// reads. Damage is no error: it stands in the result, and the check goes on after it. The result so far is returned
	// with an error too. The database should be at rest: some checks keep writers waiting.
	DeepCheck func(ctx context.Context, tell progress.Tell) (DeepCheck, error)

	// OpenScrub connects a Reader of the database's files as a background scan beside users at work reads them: in
	// their order, in requests of ScrubRequest, past the server's own cache where that can be; after the last page it
	// begins again.
	OpenScrub func(ctx context.Context) (Reader, error)
}

// Cannot is the refusal of what a server's Capabilities have not: what is a noun phrase, such as "snapshots".
func Cannot(s Database, what string) error {
	return Refuse("ask "+s.Label()+" for "+what, "", "engine %s has none", s.Engine())
}

// May is an error where one of some databases cannot do what only some servers can; of its capabilities may is what
// tells, nil where it cannot.
func May(ctx context.Context, all []Database, what string, may func(Capabilities) func(context.Context) error) error {
	for _, s := range all {
		ask := may(s.Can())
		if ask == nil {
			return Cannot(s, what)
		}
		if err := s.Wrap("ask "+s.Label()+" for "+what, ask(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// Loader is a database that can be filled. A step of a load and the note of its name in the table ds2_steps are one
// transaction, so that a load that was killed can be resumed: a step is there whole and noted, or not at all.
type Loader interface {
	// Name is that of the target's database.
	Name() string

	// Schema is, as SQL, the name of the schema in which it makes tables.
	Schema() string

	// Adapt asks the server what it is and fills in what the SQL depends on. It returns a line for each thing that the
	// server cannot take and that the benchmark does without.
	Adapt(ctx context.Context, p *schema.Params) (leftOut []string, err error)

	// CreateDatabase runs the statements of schema.Database that are due: see schema.Statement.UnlessExists.
	CreateDatabase(ctx context.Context, statements []schema.Statement) error

	// LoadRows streams rows of CSV, as package datagen writes them, into a table and returns how many there were.
	LoadRows(ctx context.Context, step, table string, csv io.Reader) (rows int64, err error)

	// ExecStep runs a statement, with the session's settings made for heavy work. Where the server refuses it in a
	// transaction it is noted afterwards; it may then run twice.
	ExecStep(ctx context.Context, statement schema.Statement) error

	// Progress gives the share that is done, 0 to 1, of each running statement of which the server tells, by the
	// statements' names.
	Progress(ctx context.Context) (map[string]float64, error)
}

// Snapshotter keeps a copy of its whole database beside it. There is at most one.
type Snapshotter interface {
	// SnapshotRoom says what room database and copy take. Of a database that is half restored it may not be known.
	SnapshotRoom(ctx context.Context) (SnapshotRoom, error)

	// CreateSnapshot makes the copy, in the place of an older one, which is kept until the new one is whole: whenever
	// it is cut off, one of the two is there. Nobody may be at work on the database.
	CreateSnapshot(ctx context.Context, how Copying) error

	// RestoreSnapshot puts the copy in the database's place; whoever is connected to it is disconnected. The copy
	// stays. What was set for the database, such as settings, rights and its owner, is as before, as far as
	// Copying.Warn is not told otherwise.
	RestoreSnapshot(ctx context.Context, how Copying) error

	// DropSnapshot removes the copy.
	DropSnapshot(ctx context.Context) error
}

// Copying is how a database is copied.
type Copying struct {
	Tell progress.Tell
	Warn func(string) // told what is set for the database and could not be kept
}

// SnapshotRoom is the room that a database and its copy take on the server's drives, in bytes.
type SnapshotRoom struct {
	Database    int64    // 0: it does not exist, or nobody knows
	Copy        int64    // that there is; 0: none
	Directories []string // of the server's machine, for the database and its copy; none: nobody knows
	Here        bool     // they are of this machine
}

// BulkReader is a server that can be told how an audit should read large tables.
type BulkReader interface {
	// PrepareRead prepares a session: memory enough for a query over 100,000 rows, and at most temp bytes of temporary
	// files. With ranges, the statements that follow read ranges of rows; else they count rows by an index. It is false
	// where the server does not let this user limit temporary files.
	PrepareRead(ctx context.Context, conn *sql.Conn, ranges bool, temp int64) (limited bool, err error)

	// Slices divides a table by where its rows lie: conditions for WHERE that together read once each page behind a
	// place that an earlier call gave; 0: each page. Rows that are added from now on lie behind end, as long as no rows
	// before it are removed. None: the server cannot.
	Slices(ctx context.Context, table string, behind, bytes int64) (conditions []string, end int64, err error)
}

// LogKeeper is a server that keeps all of its log until somebody backs it up.
type LogKeeper interface {
	// LogSpace is the size of the log and how much of it is in use. kept says that only a backup of the log frees that.
	LogSpace(ctx context.Context) (size, used int64, kept bool, err error)

	// DiscardLog backs the log up to nowhere, which frees its room and ends the chain of its backups: the database can
	// be restored to no time after the last full backup, until the next one.
	DiscardLog(ctx context.Context) error
}

// Buffers is the state of a server's own cache.
type Buffers struct {
	Share     float64 // of it that holds pages, 0 to 1
	Estimated string  // why it is, by the pages that the server has read since its statistics began; empty: it is exact
	Fits      bool    // the database is smaller than the cache, which it may never fill
}

// Placed is a table or an index and where it lies.
type Placed struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`  // "table" or "index"
	Place string `json:"place"` // tablespace or filegroup, with its directory where that is known
	Bytes int64  `json:"bytes"`
}

// Columns are those of a query for it.
func (p *Placed) Columns() []any { return []any{&p.Name, &p.Kind, &p.Place, &p.Bytes} }

// Examination is what was found.
type Examination struct {
	Findings  []Finding
	LogGrowth int64 // bytes that the files of the log may still grow by on their own; negative: nobody knows
	Hidden    bool  // a finding says that the user is not told where the database's files are
}

// Add adds a finding, which is fine, or worse and something to be done about.
func (e *Examination) Add(what string, fine bool, worse State, found, do string) {
	f := Finding{What: what, State: OK, Found: found}
	if !fine {
		f.State, f.Do = worse, do
	}
	e.Findings = append(e.Findings, f)
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
	Skipped State = "skipped" // a failure kept it from being looked at
)

// ScrubRequest is how many bytes a scrub asks for at once; at the end of a file they are fewer.
const ScrubRequest = 256 << 10

// Reader reads what lies on a server's drives, and throws it away. It belongs to one goroutine.
type Reader interface {
	// Read makes one request, or waits for what comes next. After an error of class Connection the Reader is of no use;
	// after another one it goes on behind what could not be read.
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

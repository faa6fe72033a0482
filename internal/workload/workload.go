// Package workload says what a workload is: what a database is filled with, what users do with it,
// and what it has to hold afterwards. Each workload is a room below this one that fulfils these
// interfaces, with a separate room for its calls on each engine: workload/ds2,
// workload/ds2/postgres. What an engine can do for any of them is in package store. All other rooms
// know the interfaces only; the one map of workloads is handed down by the command line.
package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"ds2/datagen"
	"ds2/internal/measure"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/schema"
)

// Workload is what holds of a workload whatever its size and parameters.
type Workload interface {
	// Name is its name in ds2_info, in records and on the command line, such as "ds2".
	Name() string

	// Words are what it calls what users do.
	Words() result.Words

	// Operations are what a user waits for; an Op is an index into them. Read-only.
	Operations() []Operation

	// Counts are what it counts besides what is counted of any, each at its place in
	// measure.Counts.Own. Read-only.
	Counts() []string

	// Mark is the state of a database before a run or after it, while idle, for Audit. Just before
	// a run it reads no table whole where it knows what is there, as what it would read would take
	// room in the server's memory.
	Mark(ctx context.Context, target store.Database, after bool) (result.Marks, error)

	// Audit asks a database whether it holds what it should. What it finds is in the checks; the
	// error is only about the asking.
	Audit(ctx context.Context, target store.Database, a Audit) ([]result.Check, error)
}

// Exporter is a Workload that has its own counters in Prometheus, besides those that all have.
type Exporter interface {
	Counters() []Counter
}

// Counter is a counter in Prometheus, by target.
type Counter struct {
	Name, Help string // without the kit's prefix: "mailbox_operations_total"

	Count string // the name of the count that it shows; empty: it is by operation, too
	// the name of the count of each operation; nil: how often each was carried out
	By map[string]string
}

// Op is an operation, by its place among those of its workload.
type Op uint8

// Operation is one thing that a user waits for.
type Operation struct {
	Name string // in metrics, records and limits
	// its response time is not part of that of its cycle in the workload's own meaning
	Outside bool
}

// Names are those of operations, by Op.
func Names(operations []Operation) []string {
	names := make([]string, len(operations))
	for i, o := range operations {
		names[i] = o.Name
	}
	return names
}

// Dataset is what a load brings into a database.
type Dataset interface {
	// String names it in messages: "size W".
	String() string

	// Info is what is noted of it in ds2_info besides store.InfoState and store.InfoVersion:
	// store.InfoWorkload, store.InfoSize and the workload's own. An unfinished load is continued
	// only by one with the same.
	Info() store.Info

	// SignatureColumns names for each table of the schema a column by which it is known, both in
	// lower case: another application may well have a table of that name, which is not to be
	// dropped.
	SignatureColumns() map[string]string

	// Params fills in what the SQL depends on: whose database it is, its size, and what it uses of
	// a server.
	Params(p schema.Params) schema.Params

	// Parts are the rows, in the order that an engine takes best. They may be read several at once,
	// and again with the same rows.
	Parts(engine string) []datagen.Part
}

// PerTarget is a Dataset whose rows differ from target to target.
type PerTarget interface {
	// For is the dataset for the target of a label; it is the same each time.
	For(label string) Dataset
}

// Plan is a workload with its parameters, on its targets: what runs are made of, one after the
// other.
type Plan interface {
	Workload() Workload

	// Size names what each target holds, in records and messages: "W".
	Size() string

	// Describe adds to a record what is the workload's own: its parameters, as a block that only
	// the workload reads and in words, and the seeds of the data.
	Describe(a *result.Spec)

	// Begin begins a run. The workload may keep files in dir, which is that of the run's record.
	Begin(dir string) Run
}

// Targeted is a Plan whose runs are to have the drives do a number of reads and writes a second.
type Targeted interface {
	// TargetIOPS is that number, over all targets; 0: there is none. Paced runs offer as much work
	// as makes it; in others users work as fast as they can.
	TargetIOPS() (iops float64, paced bool)
}

// Warming is a Plan whose runs measure only once the store is warm, by default.
type Warming interface {
	// WarmWithin is how long they wait for that at most.
	WarmWithin() time.Duration
}

// Driven is a Plan that tells what earlier runs left behind.
type Driven interface {
	// Added is how many cycles a target holds beyond those of its load.
	Added(ctx context.Context, target store.Database) (int64, error)
}

// Refusal says that databases cannot serve what was asked for. It begins with the name of the
// parameter.
type Refusal struct{ error }

// Refuse makes a Refusal.
func Refuse(format string, args ...any) error { return &Refusal{fmt.Errorf(format, args...)} }
func (r *Refusal) Unwrap() error              { return r.error }

// Run is a workload under way.
type Run interface {
	// NewUser makes the user of a seat. It neither connects nor asks the database.
	NewUser(s Seat) User

	// Ready is called once, when all users are made and before any connects. The workload may ask
	// the targets what they hold.
	Ready(ctx context.Context) error

	// End is called once after Ready, when no user is at work any more. The workload keeps then in
	// its files what an audit asks for.
	End() error
}

// Teller is a Run that has found out what only its workload knows of the databases, for
// conclude.Concluder.
type Teller interface {
	// Found is what it found. It is called after End, or instead of Ready where a run came to
	// nothing.
	Found() json.RawMessage
}

// Seat is the place of a user among those of a run.
type Seat struct {
	Number int // among all users of the run, on all driver machines
	Target int // index of its target
	Index  int // among the users of its target on this machine,
	Of     int // the number of them

	Seed uint64 // of all that is drawn in the run

	// Tally is where the user counts, in Own, what happened in the cycle under way, apart from what
	// the driver counts: cycles, response times, failures, retries, reconnects, and cycles given
	// up, offered and dropped.
	Tally *measure.Order
}

// User is one virtual user with its connection. It belongs to one goroutine. Nothing on the way of
// a cycle allocates.
//
// The driver has it play one cycle after the other. The user asks its Player for each operation in
// turn, and the player calls back Call, as often as it takes, with the clock running and on a
// connection that stands.
type User interface {
	// Connect opens the user's connection, with everything prepared that its operations need.
	Connect(ctx context.Context) error

	// Close ends the connection.
	Close(ctx context.Context) error

	// Play draws a cycle and plays it. The error is that of the first operation that failed for
	// good, or says what is wrong with an answer; the cycle then counts as given up.
	Play(p Player) error

	// Call carries out an operation of the cycle under way once. It returns when its last row has
	// been read, with an error that store.Classify understands.
	Call(ctx context.Context, op Op) error

	// InDoubt is told that the connection was lost while op may have been committed, and says
	// whether it is to be tried again.
	InDoubt(op Op) (again bool)

	// Think draws the pause after a cycle: its mean is given.
	Think(mean time.Duration) time.Duration
}

// Think draws a pause of a mean, as likely as any other from 0 to twice of it.
func Think(random *rand.Rand, mean time.Duration) time.Duration {
	if mean <= 0 {
		return 0
	}
	return time.Duration(random.Int64N(int64(2*mean) + 1))
}

// Player carries out operations for a user.
type Player interface {
	// Do carries out an operation by the user's Call: it connects where there is no connection,
	// tries again as far as that helps, and notes the response time.
	Do(op Op) error
}

// Audit is what a database is audited for, and how.
type Audit struct {
	// what a run says that it did here; nil: unknown, so only what holds without it is asked
	Run *Account

	// Whole has all rows looked at. Else those that were added since the run's first marks are,
	// those before them are counted where an index has their number, and it has been idle since the
	// run's last marks.
	Whole bool

	// bytes of temporary files that the server may write; 0: a tenth of its tables and indexes
	TempLimit int64

	// is told how many bytes have been read, by one goroutine at a time; may be nil
	Tell progress.Tell
	Warn func(string) // is told what the server cannot do, by one goroutine at a time; may be nil
	Omit func(string) // is told what an audit of the whole does not look at; may be nil
}

// Account is one run's account of what it did to one target.
type Account struct {
	Counts        measure.Counts // from the first cycles to the end of the drain
	Before, After result.Marks
	Target        int      // index of the target in the run
	Dirs          []string // the run's records, one for each driver machine
}

// Resetter is a Workload whose databases can be taken back to the state after the load without
// loading them again.
type Resetter interface {
	// PlanReset computes what is to be done on a database of an engine.
	PlanReset(engine string, info store.Info) (Reset, error)
}

// Reset is what a reset does.
type Reset struct {
	Statements []schema.Statement
	Rows       []datagen.Part // of the table that is filled again
}

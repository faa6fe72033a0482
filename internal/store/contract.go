// Package store is what the rest of the kit knows of a database: the contract that an engine
// fulfils (this file), classes of errors, and what the kit notes in a database. What users of a
// workload call on a database is in the rooms of that workload. SQL belongs in package schema but
// for commands on what they name, such as BACKUP DATABASE, which engines put together: a name or
// the path of a backup is no parameter. Protocol details belong in the engine packages below this
// one, and decisions about what to run belong to workload and driver.
package store

import (
	"context"
	"database/sql"
	"strings"

	"ds2/datagen"
	"ds2/internal/diskspace"
	"ds2/internal/progress"
	"ds2/schema"
)

// This file is the contract between the engines and the rest of the kit: what every engine can do
// is in Database. What only some can is an interface of one to three methods where it is used, such
// as upkeep.Snapshotter: engines.go of cmd/ds2 lists those of each. Package storetest asks every
// engine whether it keeps the contract.

// Database is one database under test, whatever its workload. A step of a load and the note of its
// name in the table ds2_steps are one transaction, so that a load that was killed can be resumed: a
// step is there whole and noted, or not at all.
type Database interface {
	// Engine is the engine's name as used by --engine and by package schema, such as "postgres".
	Engine() string

	// Label names the target as host:port/database, without user or password: fit for logs, records
	// and metrics.
	Label() string

	// DB is a pool for schema, audits and counters. The work of users never goes through it.
	DB() *sql.DB

	// Wrap makes an *Error of an error that DB returned, and nil of nil: op says what failed, as a
	// bare verb phrase.
	Wrap(op string, err error) error

	// Lock takes the database's lock until unlock is called or ctx ends, so that no other ds2
	// resets it under a run. It is a lock of the server's own that ends with its connection:
	// nothing is left to clean up after ds2 was killed. One that is lost, because the server
	// restarts, is taken again. The error is a *LockedError where another ds2 holds it.
	Lock(ctx context.Context, l Lock) (unlock func(), err error)

	// Close closes the pool; sessions are closed by their users.
	Close() error

	// Name is that of the target's database.
	Name() string

	// Schema is, as SQL, the name of the schema in which a load makes tables.
	Schema() string

	// Adapt asks the server what it is and fills in what the SQL depends on. It returns a line for
	// each thing that the server cannot take and that the benchmark does without.
	Adapt(ctx context.Context, p *schema.Params) (leftOut []string, err error)

	// CreateDatabase runs the statements of schema.Database that are due: see
	// schema.UnlessExists.
	CreateDatabase(ctx context.Context, statements []schema.Statement) error

	// Load copies rows into a table as a step, and returns how many there were.
	Load(ctx context.Context, c Copy) (rows int64, err error)

	// ExecStep runs a statement, with the session's settings made for heavy work. Where the server
	// refuses it in a transaction it is noted afterwards; it may then run twice.
	ExecStep(ctx context.Context, statement schema.Statement) error
}

// Unsupported is the refusal of what an engine does not implement: what is a noun phrase, such as
// "snapshots".
func Unsupported(d Database, what string) error {
	return Refuse("use "+d.Label(), "", "%s does not support %s", d.Engine(), what)
}

// Copy is a step that brings rows into a table.
type Copy struct {
	Step  string
	Table string
	Parts []datagen.Part
	// they are all rows of the table, which is emptied before: an engine may freeze them
	Whole bool
	Told  func(rows int64) // told that more rows go to the server, several times
}

// Copying is how a database is copied.
type Copying struct {
	Tell progress.Tell
	Warn func(string) // told what is set for the database and could not be kept
}

// SnapshotRoom is the room that a database and its copy take on the server's drives, in bytes.
type SnapshotRoom struct {
	Database    int64    // 0: it does not exist, or unknown
	Copy        int64    // that there is; 0: none
	Directories []string // of the server's machine, for the database and its copy; none: unknown
	Here        bool     // they are of this machine
}

// Free is how many bytes are free there, and where that is; false where it is not known.
func (r SnapshotRoom) Free() (n int64, where string, known bool) {
	if !r.Here {
		return 0, "", false
	}
	where = strings.Join(r.Directories, " and ")
	n, known = diskspace.FreeOf(r.Directories)
	if known && len(r.Directories) == 1 {
		if mount, ok := diskspace.MountPoint(where); ok {
			where += ", on the file system " + mount
		}
	}
	return n, where, known
}

// Buffers is the state of a server's own cache.
type Buffers struct {
	Share float64 // of it that holds pages, 0 to 1
	// why it is, by the pages that the server has read since its statistics began; empty: it is
	// exact
	Estimated string
	Fits      bool // the database is smaller than the cache, which it may never fill
}

// Placed is a table or an index and where it lies.
type Placed struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`  // "table" or "index"
	Place string `json:"place"` // tablespace or filegroup, with its directory where that is known
	Bytes int64  `json:"bytes"`
}

// ScrubRequest is how many bytes a scrub asks for at once; at the end of a file they are fewer.
const ScrubRequest = 256 << 10

// Reader reads what lies on a server's drives, and throws it away. It belongs to one goroutine.
type Reader interface {
	// Read makes one request, or waits for what comes next. After an error of class Connection the
	// Reader is of no use; after another one it goes on behind what could not be read.
	Read(ctx context.Context) (Read, error)

	// Close disconnects.
	Close()
}

// Read is what one request read.
type Read struct {
	Bytes int64
	// of these, what came from drives and not from the kernel's cache; negative: unknown
	Device int64
	Last   bool // there is nothing after it: the next request begins again
}

// Surroundings are what a run is made in, by kind and name.
type Surroundings map[Kind]map[string]string

// Kind is what surroundings are of.
type Kind string

// The kinds.
const (
	// start, version, recovery, standbys; settings of the server, the database and the role
	OfServer   Kind = "server"
	OfSchema   Kind = "schema"  // tables, indexes, constraints, functions: as the load made them
	OfCommits  Kind = "commits" // transactions that each database of the server has committed
	OfSessions Kind = "session" // other clients that are at work
)

// DeepCheck is what checking a database to the last page gave.
type DeepCheck struct {
	Target string `json:"target,omitempty"`
	Server string `json:"server"` // its name and version
	// whether pages carry checksums, which every read from storage verifies
	Checksums bool     `json:"checksums"`
	Objects   int      `json:"objects"` // tables and indexes
	Bytes     int64    `json:"bytes"`   // of all their pages
	Seconds   float64  `json:"seconds"`
	Damage    []Damage `json:"damage"`    // empty: nothing was found
	Unchecked []string `json:"unchecked"` // what was not checked, each with the reason

	// ChecksumFailures is how many the server has counted since its statistics began; nil: it does
	// not count them.
	ChecksumFailures *int64 `json:"checksum_failures,omitempty"`

	// DriveReads is how many reads a second the drives of the data served meanwhile, and
	// DriveReadMean how many seconds one took on average; nil: not known.
	DriveReads    *float64 `json:"drive_reads_per_s,omitempty"`
	DriveReadMean *float64 `json:"drive_read_mean_s,omitempty"`
}

// BytesPerSecond is the rate at which it read.
func (d DeepCheck) BytesPerSecond() float64 { return float64(d.Bytes) / max(d.Seconds, 1e-9) }

// Damaged says that it found damage.
func (d DeepCheck) Damaged() bool { return len(d.Damage) > 0 }

// Damage is one fault that a deep check found.
type Damage struct {
	Object string `json:"object"` // table or index
	Place  string `json:"place"`  // such as "block 17 row 3"; empty: the server's words name it
	Found  string `json:"found"`  // in the server's words
}

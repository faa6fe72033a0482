package topology

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"ds2/internal/process"
	"ds2/internal/store"
	"ds2/schema"
)

// Role is what a server keeps in a file, or on a drive.
type Role string

// The roles. A drive may have several.
const (
	Data Role = "data" // tables and indexes
	Log  Role = "log"  // the write-ahead or transaction log
	Temp Role = "temp" // what queries put aside
)

// File is a file of a server's, or a directory of them, by the name that the server's machine has
// for it.
type File struct {
	Role Role
	Path string
	// Process is that of the server on this machine, in whose mounts the path lies; 0: those of ds2
	Process int
}

// Instance is a database server: a cluster of PostgreSQL, an instance of SQL Server. Its log,
// checkpoints and processes are those of all its databases together: whoever counts or asks for
// them does it once for each Instance, not for each target.
type Instance struct {
	// no other server has it; its address, where the server did not give one
	ID      string
	Unknown error  // why it did not
	Name    string // host:port, as its first database was named
	// that are under test, in the order of the targets; they have one engine
	Databases []store.Database

	Major   int    // version
	Version string // as the server says it

	Queries schema.Server // to ask it and its databases
}

// Instances asks databases of which servers they are. They come in the order of the first database
// of each.
func Instances(ctx context.Context, databases []store.Database) (all []*Instance, err error) {
	for _, d := range databases {
		label := d.Label()
		// host:port of host:port/database
		s := &Instance{
			Name:    label[:max(strings.LastIndex(label, "/"), 0)],
			Queries: schema.ServerQueries(d.Engine()),
		}
		row := d.DB().QueryRowContext(ctx, s.Queries.Version)
		if err := row.Scan(&s.Major, &s.Version); err != nil {
			return nil, d.Wrap("ask "+label+" for the server's version", err)
		}
		if err := d.DB().QueryRowContext(ctx, s.Queries.Identity).Scan(&s.ID); err != nil {
			s.ID = s.Name // who may not ask has the address for it
			s.Unknown = d.Wrap("ask which server it is", err)
		}
		s.ID = d.Engine() + " " + s.ID
		same := slices.IndexFunc(all, func(other *Instance) bool { return other.ID == s.ID })
		if same < 0 {
			same = len(all)
			all = append(all, s)
		}
		all[same].Databases = append(all[same].Databases, d)
	}
	return all, ctx.Err()
}

// FindProcess finds, in process.Dir or another such directory, the process of this machine whose
// children are the sessions of a database's server, or that is all of the server. The error is
// process.ErrNone where there is none.
func FindProcess(ctx context.Context, database store.Database, dir string) (pid int, err error) {
	const op = "ask for the server's process"
	// Open until the process is found: it may be looked for by its session.
	conn, err := database.DB().Conn(ctx)
	if err != nil {
		return 0, database.Wrap(op, err)
	}
	defer conn.Close()
	var inside, port sql.NullInt64 // the server may know one of the two
	var program string
	var age sql.NullFloat64
	ask := schema.ServerQueries(database.Engine()).Process
	err = conn.QueryRowContext(ctx, ask).Scan(&inside, &program, &age, &port)
	switch {
	case errors.Is(err, sql.ErrNoRows) || err == nil && !inside.Valid && !port.Valid:
		return 0, process.ErrNone
	case err != nil:
		return 0, database.Wrap(op, err)
	}
	old := time.Duration(age.Float64 * float64(time.Second))
	if inside.Valid {
		_, pid, err = process.Find(dir, int(inside.Int64), program, old)
		return pid, err
	}
	return process.FindListening(dir, uint64(port.Int64), program, old)
}

// Files gives where a database of the server lies, with its log and temporary files. The places of
// data come first.
func (s *Instance) Files(ctx context.Context, database store.Database) (files []File, err error) {
	files, err = store.Collect[File](ctx, database.DB(), s.Queries.Files)
	return files, database.Wrap("ask the server where its files are", err)
}

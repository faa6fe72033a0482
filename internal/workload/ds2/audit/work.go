package audit

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"ds2/internal/store"
)

// sessions is how many read at once: enough to keep drives busy, too few to crowd out the server's cache.
const sessions = 4

// task is a statement or a few that read some bytes of tables, roughly.
type task struct {
	name  string
	bytes int64
	do    func(ctx context.Context, conn *sql.Conn) error
}

// BulkReader is an engine that can be told how an audit reads large tables. Without it they are read with the session's
// own settings, each in one statement.
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

// workers run tasks, each on a session that the server prepared for them.
type workers struct {
	target store.Database
	idle   chan *sql.Conn
	temp   int64       // bytes of temporary files for all
	read   func(int64) // is told of bytes that have been read
}

func connect(ctx context.Context, target store.Database, temp int64) (*workers, error) {
	w := &workers{target: target, idle: make(chan *sql.Conn, sessions), temp: temp}
	for range sessions {
		conn, err := target.DB().Conn(ctx)
		if err != nil {
			w.close()
			return nil, err
		}
		w.idle <- conn
	}
	return w, nil
}

// prepare prepares all sessions, and tells whether the server holds them to their temporary files.
func (w *workers) prepare(ctx context.Context, ranges bool) (limited bool, err error) {
	reader, ok := w.target.(BulkReader)
	if !ok {
		return false, nil
	}
	limited = true
	for range sessions {
		conn := <-w.idle
		ok, err := reader.PrepareRead(ctx, conn, ranges, w.temp/sessions)
		w.idle <- conn
		if err != nil {
			return false, err
		}
		limited = limited && ok
	}
	return limited, nil
}

// close gives the sessions back. They are not used again: what they were prepared for is over.
func (w *workers) close() {
	for len(w.idle) > 0 {
		conn := <-w.idle
		conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}

// run runs tasks in their order, as many at once as there are workers.
func (w *workers) run(ctx context.Context, tasks []task) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cap(w.idle))
	for _, t := range tasks {
		group.Go(func() error {
			conn := <-w.idle
			defer func() { w.idle <- conn }()
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := t.do(ctx, conn); err != nil {
				return w.target.Wrap(fmt.Sprintf("audit %s: %s", w.target.Label(), t.name), err)
			}
			if t.bytes > 0 {
				w.read(t.bytes)
			}
			return nil
		})
	}
	return group.Wait()
}

// interleave puts the tasks of a and b in one row, evenly, so that both come to their end together: the pace then is
// the same from beginning to end.
func interleave(a, b []task) []task {
	all := make([]task, 0, len(a)+len(b))
	for i, j := 0, 0; i+j < cap(all); {
		if j == len(b) || i < len(a) && i*len(b) <= j*len(a) {
			all, i = append(all, a[i]), i+1
		} else {
			all, j = append(all, b[j]), j+1
		}
	}
	return all
}

// Placer is an engine that lists where tables and indexes lie, the largest first.
type Placer interface {
	Placement(ctx context.Context) ([]store.Placed, error)
}

// tableBytes are the sizes of the tables, and of all tables and indexes together, for the progress only; nothing where
// the server does not say.
func tableBytes(ctx context.Context, target store.Database) (tables map[string]int64, total int64) {
	var placed []store.Placed
	if engine, ok := target.(Placer); ok {
		placed, _ = engine.Placement(ctx)
	}
	tables = map[string]int64{}
	for _, p := range placed {
		if p.Kind == "table" {
			tables[strings.ToLower(p.Name)] += p.Bytes
		}
		total += p.Bytes
	}
	return tables, total
}

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

// sessions is how many read at once: enough to keep drives busy, too few to crowd out the server's
// cache.
const sessions = 4

// task is a statement or a few that read some bytes of tables, roughly.
type task struct {
	name  string
	bytes int64
	do    func(ctx context.Context, conn *sql.Conn) error
}

// BulkReader is an engine that can be told how an audit reads large tables. Without it they are
// read with the session's own settings, each in one statement.
type BulkReader interface {
	// PrepareRead prepares a session: memory enough for a query over 100,000 rows, and at most temp
	// bytes of temporary files. With ranges, the statements that follow read ranges of rows; else
	// they count rows by an index. It is false where the server does not let this user limit
	// temporary files.
	PrepareRead(
		ctx context.Context,
		conn *sql.Conn,
		ranges bool,
		temp int64,
	) (limited bool, err error)

	// Slices divides a table by where its rows lie: conditions for WHERE that together read once
	// each page behind a place that an earlier call gave; 0: each page. Rows that are added from
	// now on lie behind end, as long as no rows before it are removed. None: the server cannot.
	Slices(
		ctx context.Context,
		table string,
		behind, bytes int64,
	) (conditions []string, end int64, err error)
}

// runTasks runs tasks in their order on a few sessions, which the server prepares for what they
// read; see BulkReader.
func (a *audit) runTasks(ctx context.Context, ranges bool, tasks []task) error {
	queue := make(chan task, len(tasks))
	for _, t := range tasks {
		queue <- t
	}
	close(queue)
	group, ctx := errgroup.WithContext(ctx)
	for range min(sessions, len(tasks)) {
		group.Go(func() error {
			conn, err := a.target.DB().Conn(ctx)
			if err != nil {
				return err
			}
			// The session is not used again: what it was prepared for is over.
			defer conn.Raw(func(any) error { return driver.ErrBadConn })
			limited := false
			if reader, ok := a.target.(BulkReader); ok {
				limited, err = reader.PrepareRead(ctx, conn, ranges, a.temp/sessions)
				if err != nil {
					return err
				}
			}
			if !limited {
				a.warned.Do(func() {
					a.options.Warn("temp_file_limit does not apply to this user; none are written unless there is damage to look into")
				})
			}
			for t := range queue {
				if err := t.do(ctx, conn); err != nil {
					return a.target.Wrap(fmt.Sprintf("audit %s: %s", a.target.Label(), t.name), err)
				}
				if t.bytes > 0 {
					a.read(t.bytes)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// interleave puts the tasks of a and b in one row, evenly, so that both come to their end together:
// the pace then is the same from beginning to end.
func interleave(a, b []task) []task {
	all := make([]task, 0, len(a)+len(b))
	for i, j := 0, 0; i+j < cap(all); {
		if j == len(b) || i < len(a) && i*len(b) <= j*len(a) {
			all = append(all, a[i])
			i = i + 1
		} else {
			all = append(all, b[j])
			j = j + 1
		}
	}
	return all
}

// Placer is an engine that lists where tables and indexes lie, the largest first.
type Placer interface {
	Placement(ctx context.Context) ([]store.Placed, error)
}

// tableBytes are the sizes of the tables, and of all tables and indexes together, for the progress
// only; nothing where the server does not say.
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

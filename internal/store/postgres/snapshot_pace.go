package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"ds2/internal/pace"
	"ds2/internal/store"
)

// copyEvery is how often the copy of a database is looked at while the server makes it.
const copyEvery = 200 * time.Millisecond

// The kinds of work of a copy, of which nobody can see how far they are but for the copying. The server drops an old database, writes its
// cache to the drives, copies all files, and has them written to the drives, of which the kernel has done most by then. The units are GB,
// and the seconds those of a machine with one fast drive: a snapshot is noted with those of its own.
var (
	dropping = pace.Kind{Name: "drop", Prior: 0.3}
	starting = pace.Kind{Name: "start", Prior: 0.2} // of one unit
	copying  = pace.Kind{Name: "copy", Prior: 1, Even: true}
	syncing  = pace.Kind{Name: "write", Prior: 0.06}
)

// copyWork is how far a copy of a database is.
type copyWork struct {
	old, all float64 // GB of the database that is dropped, and of the copy

	mu                         sync.Mutex
	estimate                   pace.Estimate
	dropping, copying, syncing pace.Kind

	doing  string
	before float64 // GB of files without a database's name before the copy began; negative: not looked yet
	seen   float64 // GB of the copy
	at     stage
	began  [ended + 1]time.Time
	first  float64 // GB that the copy had when it was first seen
}

// stage is what the server is at.
type stage int

const (
	drops stage = iota
	starts
	copies
	syncs
	ended
)

// measureCopy looks at the sizes of two databases, of which the second one may not be there, and at the note of a snapshot, which may not be
// there either.
func measureCopy(ctx context.Context, conn *pgx.Conn, from, to, known string) (*copyWork, error) {
	var all, old float64
	var note string
	err := conn.QueryRow(ctx, `SELECT pg_database_size($1::name) / 1e9,
		coalesce((SELECT pg_database_size(oid) FROM pg_database WHERE datname = $2), 0) / 1e9,
		coalesce((SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = $3), '')`, from, to, known).Scan(&all, &old, &note)
	if err != nil {
		return nil, err
	}
	return newCopyWork(to, old, all, note), nil
}

func newCopyWork(to string, old, all float64, note string) *copyWork {
	w := &copyWork{old: old, all: all, dropping: dropping, copying: copying, syncing: syncing, before: -1}
	var drop, copy, write float64
	if _, err := fmt.Sscanf(note, copyNote, &drop, &copy, &write); err == nil && copy > 0 {
		w.copying.Prior, w.copying.Known, w.syncing.Prior, w.syncing.Known = copy, true, write, true
		if drop > 0 {
			w.dropping.Prior, w.dropping.Known = drop, true
		}
	}
	w.estimate.Seconds = true
	w.estimate.Plan(w.dropping, w.old)
	w.estimate.Plan(starting, 1)
	w.estimate.Plan(w.copying, w.all)
	w.estimate.Plan(w.syncing, w.all)
	w.begin(drops, "drop the old database "+to, w.dropping, w.old)
	if w.old == 0 {
		w.dropped()
	}
	return w
}

// copyNote is what a snapshot's database is commented with, for the time left of the next copy.
const copyNote = "ds2: for each GB %f s to drop, %f s to copy, %f s to write"

// note comments on a snapshot what the copy took, where its files could be seen: who may not do that sees less of the time left.
func (w *copyWork) note(ctx context.Context, conn *pgx.Conn, snapshot string) {
	if text := w.noteText(); text != "" {
		conn.Exec(ctx, "COMMENT ON DATABASE "+quote(snapshot)+" IS '"+text+"'") // it is only for show
	}
}

// noteText is the note of a copy that has just ended; empty where it was not seen.
func (w *copyWork) noteText() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at < copies || w.first == w.all {
		return ""
	}
	for at := w.at; at < ended; at++ {
		w.began[at+1] = time.Now()
	}
	seconds := func(s stage) float64 { return w.began[s+1].Sub(w.began[s]).Seconds() }
	drop := 0.0
	if w.old > 0 {
		drop = seconds(drops) / w.old
	}
	return fmt.Sprintf(copyNote, drop, seconds(copies)/(w.all-w.first), seconds(syncs)/w.all)
}

// begin says that the server is at something else. The caller holds the lock, or is alone.
func (w *copyWork) begin(at stage, doing string, kind pace.Kind, units float64) {
	w.at, w.doing, w.began[at] = at, doing, time.Now()
	w.estimate.Begin(kind, units)
}

// dropped says that the old database is gone.
func (w *copyWork) dropped() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at == drops {
		w.begin(starts, fmt.Sprintf("copy %.1f GB", w.all), starting, 1)
	}
}

// has says how many GB the files have that belong to no database.
func (w *copyWork) has(unnamed float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at == drops || w.before < 0 {
		w.before = unnamed
		return
	}
	seen := min(unnamed-w.before, w.all)
	switch {
	case w.at == starts && seen > 0: // how long it took is not known, so it counts for nothing
		w.first, w.seen = seen, seen
		w.estimate.Skip(w.copying, seen)
		w.begin(copies, w.doing, w.copying, w.all-seen)
	case w.at == copies && seen > w.seen:
		w.estimate.Did(seen - w.seen)
		w.seen = seen
	}
	if w.at == copies && w.seen > 0.999*w.all {
		w.begin(syncs, "have the copy written to the drives", w.syncing, w.all)
	}
}

// copied is how many GB the copy has.
func (w *copyWork) copied() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

func (w *copyWork) show(tell store.Tell) {
	w.mu.Lock()
	defer w.mu.Unlock()
	share, left := w.estimate.Left()
	tell(w.doing, share, left)
}

// follow tells how far a copy is, until stop is called.
func (s *Store) follow(ctx context.Context, w *copyWork, tell store.Tell) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	w.show(tell)
	watch.Go(func() {
		conn := s.watcher(ctx)
		if conn != nil {
			defer conn.Close(context.WithoutCancel(ctx))
		}
		tick := time.NewTicker(copyEvery)
		defer tick.Stop()
		for {
			if conn != nil {
				if unnamed, err := unnamedBytes(ctx, conn); err == nil {
					w.has(float64(unnamed) / 1e9)
				}
			}
			w.show(tell)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return func() { cancel(); watch.Wait() }
}

// watcher is a connection to look at files with; nil where there can be none, since it is only for show.
func (s *Store) watcher(ctx context.Context) *pgx.Conn {
	conn, err := s.maintenance(ctx)
	if err != nil {
		return nil
	}
	// The planner takes the files for millions, and compiling the query takes most of a second; running it, a ten-thousandth of one.
	if _, err := conn.Exec(ctx, "SET jit = off"); err != nil {
		conn.Close(context.WithoutCancel(ctx))
		return nil
	}
	return conn
}

// unnamedBytes are those of the files of databases that have no name yet, or none any more: of one that is being copied. Only a
// superuser may see them.
func unnamedBytes(ctx context.Context, conn *pgx.Conn) (n int64, err error) {
	err = conn.QueryRow(ctx, `
		WITH places (dir) AS (
			SELECT 'base'
			UNION ALL
			SELECT 'pg_tblspc/' || t || '/' || v FROM pg_ls_dir('pg_tblspc') t, pg_ls_dir('pg_tblspc/' || t) v
			WHERE v LIKE 'PG_' || current_setting('server_version_num')::integer / 10000 || '_%'
		)
		SELECT coalesce(sum((pg_stat_file(dir || '/' || db || '/' || file, true)).size), 0)::bigint
		FROM places, pg_ls_dir(dir) db, pg_ls_dir(dir || '/' || db, true, false) file
		WHERE db ~ '^[0-9]+$' AND db::oid NOT IN (SELECT oid FROM pg_database)`).Scan(&n)
	return n, err
}

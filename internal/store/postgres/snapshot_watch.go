package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"ds2/internal/progress"
)

// copyEvery is how often the copy of a database is looked at while the server makes it.
const copyEvery = 200 * time.Millisecond

// copyWork is how far a copy of a database is. The server drops an old database, copies all files, and has them written
// to the drives. Only the copying shows how far it is.
type copyWork struct {
	to      string       // the database that is made
	all     int64        // bytes of the copy
	dropped atomic.Bool  // the old database is gone
	before  int64        // bytes of files without a database's name before the copy began; negative: not looked yet
	seen    atomic.Int64 // bytes of the copy
}

// has says how many bytes the files have that belong to no database.
func (w *copyWork) has(unnamed int64) {
	if !w.dropped.Load() || w.before < 0 {
		w.before = unnamed
		return
	}
	w.seen.Store(max(w.seen.Load(), min(unnamed-w.before, w.all)))
}

// copied is how many GB the copy has.
func (w *copyWork) copied() float64 { return float64(w.seen.Load()) / 1e9 }

func (w *copyWork) show(tell progress.Tell) {
	doing, seen := "copy the files", w.seen.Load()
	switch {
	case !w.dropped.Load():
		doing = "drop the old database " + w.to
	case float64(seen) > 0.999*float64(w.all):
		doing = "have the copy written to the drives"
	}
	tell(doing, seen, w.all)
}

// follow tells how far a copy is, until stop is called.
func (s *Store) follow(ctx context.Context, w *copyWork, tell progress.Tell) (stop func()) {
	w.show(tell)
	conn := s.watcher(ctx)
	if conn == nil {
		return func() {}
	}
	look := func(ctx context.Context) bool {
		if unnamed, err := unnamedBytes(ctx, conn); err == nil {
			w.has(unnamed)
		}
		w.show(tell)
		return true
	}
	look(ctx)
	end := progress.Watch(ctx, copyEvery, look)
	return func() { end(); conn.Close(context.WithoutCancel(ctx)) }
}

// watcher is a connection to look at files with; nil where there can be none, since it is only for show.
func (s *Store) watcher(ctx context.Context) *pgx.Conn {
	conn, err := s.maintenance(ctx, cancelStatement)
	if err != nil {
		return nil
	}
	// The planner takes the files for millions, and compiling the query takes most of a second; running it, a
	// ten-thousandth of one.
	if _, err := conn.Exec(ctx, "SET jit = off"); err != nil {
		conn.Close(context.WithoutCancel(ctx))
		return nil
	}
	return conn
}

// unnamedBytes are those of the files of databases that have no name yet, or none any more: of one that is being
// copied. Only a superuser may see them.
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

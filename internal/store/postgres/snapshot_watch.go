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

// followCopy tells how far the copying of files is that come to all bytes, until stop is called,
// and sets copied to it. The server shows that to superusers alone.
func (s *Store) followCopy(
	ctx context.Context,
	all int64,
	copied *atomic.Int64,
	tell progress.Tell,
) (stop func()) {
	tell("copy the files", 0, all)
	conn := s.connectWatcher(ctx)
	if conn == nil {
		return func() {}
	}
	before, err := unnamedBytes(ctx, conn)
	end := progress.Watch(ctx, copyEvery, func(ctx context.Context) bool {
		unnamed, failed := unnamedBytes(ctx, conn)
		if err == nil && failed == nil {
			copied.Store(max(copied.Load(), min(unnamed-before, all)))
		}
		doing := "copy the files"
		if float64(copied.Load()) > 0.999*float64(all) {
			doing = "have the copy written to the drives"
		}
		tell(doing, copied.Load(), all)
		return true
	})
	return func() { end(); conn.Close(context.WithoutCancel(ctx)) }
}

// connectWatcher is a connection to look at files with; nil where there can be none, since it is
// only for show.
func (s *Store) connectWatcher(ctx context.Context) *pgx.Conn {
	conn, err := s.connectMaintenance(ctx, cancelStatement)
	if err != nil {
		return nil
	}
	// The planner takes the files for millions, and compiling the query takes most of a second;
	// running it, a ten-thousandth of one.
	if _, err := conn.Exec(ctx, "SET jit = off"); err != nil {
		conn.Close(context.WithoutCancel(ctx))
		return nil
	}
	return conn
}

// unnamedBytes are those of the files of databases that have no name yet, or none any more: of one
// that is being copied. Only a superuser may see them.
func unnamedBytes(ctx context.Context, conn *pgx.Conn) (n int64, err error) {
	err = conn.QueryRow(ctx, query("server/bytes-in-making")).Scan(&n)
	return n, err
}

// Package deferred has SQL Server do the work that it has put off: store.DeferredWorker.
package deferred

import (
	"context"
	"database/sql"
	"time"

	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/store/sqlserver/target"
)

// The rights of DoDeferred.
const (
	mayCheckpoint = `SELECT CAST(COALESCE(HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), 'DATABASE', 'CHECKPOINT'), 0) AS bit)`
	mayView       = `SELECT CAST(COALESCE(
		HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), 'DATABASE', 'VIEW DATABASE STATE'), 0) AS bit)`
)

// ghostRecords asks for the rows that were deleted and still lie in their pages. Of an index of 10,000 pages and more
// it reads one page in a hundred.
const ghostRecords = `SELECT COALESCE(SUM(COALESCE(ghost_record_count, 0) + COALESCE(version_ghost_record_count, 0)), 0)
FROM sys.dm_db_index_physical_stats(DB_ID(), NULL, NULL, NULL, 'SAMPLED')`

// Statements are the questions, for whoever parses them.
var Statements = []string{mayCheckpoint, mayView, ghostRecords}

// Worker is a store.DeferredWorker.
type Worker struct{ target.Target }

var _ store.DeferredWorker = Worker{}

// MayCheckpoint asks for the right to run CHECKPOINT: store.Capabilities.
func (s Worker) MayCheckpoint(ctx context.Context) error {
	v, err := s.Kind(ctx)
	if err != nil || v.Babelfish { // which tells of no such right
		return err
	}
	return target.May(ctx, s, "make a checkpoint on "+s.Label(), mayCheckpoint, "the user may not run a checkpoint",
		"make the user a member of db_owner, or run with --checkpoint-first=false and without --debt")
}

// CheckDeferred looks for the rights to run CHECKPOINT and to see ghost records: store.DeferredWorker.
func (s Worker) CheckDeferred(ctx context.Context) error {
	op := "do the deferred work of " + s.Label()
	err := target.Lacks(ctx, s, op, target.AsPostgres+"leave out --debt",
		"this server, Babelfish, tells of no rows that it has yet to remove", "")
	if err == nil {
		err = s.MayCheckpoint(ctx)
	}
	if err != nil {
		return err
	}
	return target.May(ctx, s, op, mayView, "the user may not see which rows are yet to be removed",
		"GRANT VIEW DATABASE STATE to the user, or leave out --debt")
}

const (
	// ghostPause is between two questions for ghost records: the server removes some every 5 s. It is longer where
	// asking takes long, so that the reads of asking stay few.
	ghostPause = 5 * time.Second
	ghostShare = 20 // of the time, at most one part in so many is for asking

	// GhostsStay is after how long without fewer ghost records no more are expected to go.
	GhostsStay = 5 * time.Minute
)

// DoDeferred makes a checkpoint, waits until the server has removed what was deleted, and makes another:
// store.DeferredWorker. The server removes deleted rows at a pace of its own, at most ten pages every 5 s by its
// documentation; none of its statements does just that sooner.
func (s Worker) DoDeferred(ctx context.Context, step func(name string)) (done store.Deferred, err error) {
	op := "do the deferred work of " + s.Label()
	conn, err := s.DB().Conn(ctx)
	if err != nil {
		return done, s.Wrap(op, err)
	}
	defer conn.Close()
	if done.Before, err = Ghosts(ctx, conn); err != nil {
		return done, s.Wrap(op, err)
	}
	checkpoint := func(name string) error {
		step(name)
		_, err := conn.ExecContext(ctx, "CHECKPOINT")
		return s.Wrap(op+": "+name, err)
	}
	done.After = done.Before
	if err := checkpoint("checkpoint"); err != nil || done.Before == 0 {
		return done, err
	}
	step("ghost cleanup")
	if err := AwaitGhosts(ctx, &done.After, func() (int64, error) { return Ghosts(ctx, conn) }); err != nil {
		return done, s.Wrap(op+": ghost cleanup", err)
	}
	return done, checkpoint("checkpoint after the cleanup")
}

// AwaitGhosts waits until there are none, or no fewer for a while. Each count is noted.
func AwaitGhosts(ctx context.Context, left *int64, count func() (int64, error)) error {
	fewest, since := int64(-1), time.Now()
	for {
		asked := time.Now()
		now, err := count()
		if err != nil {
			return err
		}
		if *left = now; now == 0 {
			return nil
		}
		if fewest < 0 || now < fewest {
			fewest, since = now, time.Now()
		}
		if time.Since(since) >= GhostsStay {
			return nil
		}
		if !progress.Pause(ctx, max(ghostPause, ghostShare*time.Since(asked))) {
			return ctx.Err()
		}
	}
}

// Ghosts counts the ghost records of all tables.
func Ghosts(ctx context.Context, conn *sql.Conn) (n int64, err error) {
	return n, conn.QueryRowContext(ctx, ghostRecords).Scan(&n)
}

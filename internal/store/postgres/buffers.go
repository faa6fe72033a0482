package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"ds2/internal/store"
)

// Checkpoint makes a checkpoint: runs.Checkpointer. It is for superusers and, from version 15 on,
// members of pg_checkpoint.
func (s *Store) Checkpoint(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "CHECKPOINT")
	return s.Wrap("make a checkpoint on "+s.Label(), err)
}

// MayCheckpoint asks for the right to run CHECKPOINT: runs.Checkpointer.
func (s *Store) MayCheckpoint(ctx context.Context) error {
	hint := fmt.Sprintf("GRANT pg_checkpoint TO %q (PostgreSQL 15 or later), or run with --checkpoint-first=false",
		s.config.User)
	return store.May(ctx, s, "make a checkpoint on "+s.Label(), query("server/may-checkpoint"),
		"the user may not run a checkpoint", hint)
}

// Buffers tells how much of shared_buffers holds pages: runs.BufferCounter. It is exact where the
// database has the extension pg_buffercache, in whatever schema and version, and the user may ask
// it; else it is estimated, by the pages that the server has read.
func (s *Store) Buffers(ctx context.Context) (b store.Buffers, err error) {
	var pages, size, read float64
	err = s.db.QueryRowContext(ctx, query("database/buffers")).
		Scan(&pages, &size, &read)
	if err != nil {
		return b, s.Wrap("ask how many buffers are in use", err)
	}
	b.Fits = size < pages
	if b.Share, b.Estimated = s.countBuffers(ctx); b.Estimated != "" {
		b.Share = min(1, read/pages)
	}
	return b, ctx.Err()
}

// countBuffers asks the extension for the share of buffers in use; or it says why it cannot.
func (s *Store) countBuffers(ctx context.Context) (share float64, why string) {
	var where, version string
	var summary bool // which reads no buffer's lock
	err := s.db.QueryRowContext(ctx, query("database/buffercache")).
		Scan(&where, &version, &summary)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, "the database has no extension pg_buffercache"
	}
	query := "SELECT count(relfilenode)::float8 / count(*) FROM " + where + ".pg_buffercache"
	if summary {
		query = "SELECT buffers_used::float8 / (buffers_used + buffers_unused) FROM " +
			where + ".pg_buffercache_summary()"
	}
	if err == nil {
		err = s.db.QueryRowContext(ctx, query).Scan(&share)
	}
	if err != nil {
		err = s.Wrap("ask it", err)
		return 0, fmt.Sprintf("pg_buffercache %s in schema %s: %v", version, where, err)
	}
	return share, ""
}

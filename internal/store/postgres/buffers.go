package postgres

import (
	"context"
	"fmt"

	"ds2/internal/store"
)

// Checkpoint makes a checkpoint: store.Capabilities. It is for superusers and, from version 15 on, members of
// pg_checkpoint.
func (s *Store) Checkpoint(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "CHECKPOINT")
	return s.Wrap("make a checkpoint on "+s.Label(), err)
}

// MayCheckpoint asks for the right to run CHECKPOINT: store.Capabilities.
func (s *Store) MayCheckpoint(ctx context.Context) error {
	op := "make a checkpoint on " + s.Label()
	var checkpoint bool
	const ask = `
		SELECT rolsuper OR EXISTS (
			SELECT FROM pg_roles p WHERE p.rolname = 'pg_checkpoint' AND pg_has_role(current_user, p.oid, 'USAGE'))
		FROM pg_roles WHERE rolname = current_user`
	if err := s.db.QueryRowContext(ctx, ask).Scan(&checkpoint); err != nil {
		return s.Wrap(op, err)
	}
	if !checkpoint {
		hint := fmt.Sprintf("GRANT pg_checkpoint TO %q (PostgreSQL 15 or later), or run with --checkpoint-first=false",
			s.User())
		return store.Refuse(op, hint, "the user may not run a checkpoint")
	}
	return nil
}

// Buffers tells how much of shared_buffers holds pages: store.Capabilities. It is exact where the database has the
// extension pg_buffercache and the user may ask it.
func (s *Store) Buffers(ctx context.Context) (b store.Buffers, err error) {
	var pages, size, read float64
	var version int
	var extension bool
	err = s.db.QueryRowContext(ctx, `
		SELECT (SELECT setting::float8 FROM pg_settings WHERE name = 'shared_buffers'),
			pg_database_size(current_database()) / current_setting('block_size')::float8,
			(SELECT sum(blks_read)::float8 FROM pg_stat_database),
			current_setting('server_version_num')::int,
			EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_buffercache')
				AND pg_has_role('pg_monitor', 'USAGE')`).
		Scan(&pages, &size, &read, &version, &extension)
	b.Fits = size < pages
	if err == nil && extension {
		query := "SELECT count(relfilenode)::float8 / count(*) FROM pg_buffercache"
		if version >= 160000 { // reads no buffer's lock
			query = "SELECT buffers_used::float8 / (buffers_used + buffers_unused) FROM pg_buffercache_summary()"
		}
		err = s.db.QueryRowContext(ctx, query).Scan(&b.Share)
	} else if err == nil {
		b.Share, b.Estimated = min(1, read/pages), true
	}
	return b, s.Wrap("ask how many buffers are in use", err)
}

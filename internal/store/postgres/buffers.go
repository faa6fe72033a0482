package postgres

import (
	"context"

	"ds2/internal/store"
)

// Checkpoint makes a checkpoint: store.Capabilities. It is for superusers and, from version 15 on, members of
// pg_checkpoint.
func (s *Store) Checkpoint(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "CHECKPOINT")
	return s.Wrap("make a checkpoint on "+s.Label(), err)
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

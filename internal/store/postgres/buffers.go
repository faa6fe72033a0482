package postgres

import (
	"context"

	"ds2/internal/store"
)

// Buffers tells how much of shared_buffers holds pages: store.Capabilities. It is exact where the database has the
// extension pg_buffercache and the user may ask it.
func (s *Store) Buffers(ctx context.Context) (b store.Buffers, err error) {
	const op = "ask how many buffers are in use"
	var pages, size, read float64
	var version int
	var extension bool
	err = s.db.QueryRowContext(ctx, `
		SELECT (SELECT setting::float8 FROM pg_settings WHERE name = 'shared_buffers'),
			pg_database_size(current_database()) / current_setting('block_size')::float8,
			(SELECT sum(blks_read)::float8 FROM pg_stat_database),
			current_setting('server_version_num')::int,
			EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_buffercache')
				AND coalesce((SELECT bool_or(pg_has_role(oid, 'USAGE')) FROM pg_roles WHERE rolname = 'pg_monitor'), false)`).
		Scan(&pages, &size, &read, &version, &extension)
	if err != nil {
		return b, s.Wrap(op, err)
	}
	b.Fits = size < pages
	if !extension {
		b.Share, b.Estimated = min(1, read/pages), true
		return b, nil
	}
	query := "SELECT count(relfilenode)::float8 / count(*) FROM pg_buffercache"
	if version >= 160000 { // reads no buffer's lock
		query = "SELECT buffers_used::float8 / (buffers_used + buffers_unused) FROM pg_buffercache_summary()"
	}
	return b, s.Wrap(op, s.db.QueryRowContext(ctx, query).Scan(&b.Share))
}

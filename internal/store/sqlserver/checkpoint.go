package sqlserver

import (
	"context"

	"ds2/internal/store/sqlserver/target"
)

// Checkpoint makes a checkpoint of the database: store.Capabilities.
func (s *Store) Checkpoint(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "CHECKPOINT")
	return s.Wrap("make a checkpoint on "+s.Label(), err)
}

// MayDropCache asks for the right to DropCache: store.Capabilities.
func (s *Store) MayDropCache(ctx context.Context) error {
	op := "empty the cache of " + s.Label()
	if err := target.Lacks(ctx, s, op, "leave --cold-start out", "this server, Babelfish, has no DBCC DROPCLEANBUFFERS", ""); err != nil {
		return err
	}
	const ask = "SELECT CAST(COALESCE(HAS_PERMS_BY_NAME(NULL, NULL, 'ALTER SERVER STATE'), 0) AS bit)"
	return target.May(ctx, s, op, ask, "the login may not run DBCC DROPCLEANBUFFERS", "GRANT ALTER SERVER STATE TO the login, or leave --cold-start out")
}

// DropCache empties the server's buffer pool: store.Capabilities.
func (s *Store) DropCache(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "DBCC DROPCLEANBUFFERS WITH NO_INFOMSGS")
	return s.Wrap("empty the cache of "+s.Label(), err)
}

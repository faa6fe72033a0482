package sqlserver

import (
	"context"

	"ds2/internal/store"
)

// Checkpoint makes a checkpoint of the database: store.Capabilities.
func (s *Store) Checkpoint(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "CHECKPOINT")
	return s.Wrap("make a checkpoint on "+s.Label(), err)
}

// MayDropCache asks for the right to DropCache: store.Capabilities.
func (s *Store) MayDropCache(ctx context.Context) error {
	op := "empty the cache of " + s.Label()
	v, err := s.ask(ctx)
	if v.babelfish {
		return store.Refuse(op, "leave --cold-start out", "this server, Babelfish, has no DBCC DROPCLEANBUFFERS")
	}
	may := false
	if err == nil {
		err = s.db.QueryRowContext(ctx, "SELECT CAST(COALESCE(HAS_PERMS_BY_NAME(NULL, NULL, 'ALTER SERVER STATE'), 0) AS bit)").Scan(&may)
	}
	if err == nil && !may {
		return store.Refuse(op, "GRANT ALTER SERVER STATE TO the login, or leave --cold-start out", "the login may not run DBCC DROPCLEANBUFFERS")
	}
	return s.Wrap(op, err)
}

// DropCache empties the server's buffer pool: store.Capabilities.
func (s *Store) DropCache(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "DBCC DROPCLEANBUFFERS WITH NO_INFOMSGS")
	return s.Wrap("empty the cache of "+s.Label(), err)
}

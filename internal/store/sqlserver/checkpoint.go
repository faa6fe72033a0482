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

// dropCache takes ALTER SERVER STATE.
const dropCache = "DBCC DROPCLEANBUFFERS WITH NO_INFOMSGS"

// DropCache empties the server's buffer pool: store.Capabilities.
func (s *Store) DropCache(ctx context.Context) error {
	op := "empty the cache of " + s.Label()
	v, err := s.ask(ctx)
	if err != nil {
		return err
	}
	if v.babelfish {
		return store.Refuse(op, "leave --cold-start out", "this server, Babelfish, has no DBCC DROPCLEANBUFFERS")
	}
	_, err = s.db.ExecContext(ctx, dropCache)
	return s.Wrap(op, err)
}

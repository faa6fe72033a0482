package postgres

import (
	"context"
	"errors"

	"ds2/internal/store"
	"ds2/internal/store/postgres/target"
)

// Checkpoint makes a checkpoint: store.Capabilities. It is for superusers and, from version 15 on, members of
// pg_checkpoint.
func (s *Store) Checkpoint(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "CHECKPOINT")
	wrapped := s.Wrap("make a checkpoint on "+s.Label(), err)
	if target.State(err) == target.InsufficientPrivilege {
		if e, ok := errors.AsType[*store.Error](wrapped); ok {
			e.Hint = "grant the user pg_checkpoint (PostgreSQL 15 or later), or run without one"
		}
	}
	return wrapped
}

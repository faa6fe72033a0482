package postgres

import "context"

// Checkpoint makes a checkpoint: store.Capabilities. It is for superusers and, from version 15 on, members of
// pg_checkpoint.
func (s *Store) Checkpoint(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "CHECKPOINT")
	return s.Wrap("make a checkpoint on "+s.Label(), err)
}

package sqlserver

import "context"

// Checkpoint makes a checkpoint of the database: store.Capabilities.
func (s *Store) Checkpoint(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "CHECKPOINT")
	return s.Wrap("make a checkpoint on "+s.Label(), err)
}

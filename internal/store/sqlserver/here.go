package sqlserver

import (
	"context"

	"ds2/internal/process"
	"ds2/internal/store"
)

// Here looks for the server's process among those of this machine: store.Database.
func (s *Store) Here(ctx context.Context) bool {
	return store.FindProcess(ctx, s, process.Dir, func(int, string) error { return nil }) == nil
}

package postgres

import (
	"ds2/internal/store"
	"ds2/internal/store/postgres/replay"
)

var _ store.Store = (*Store)(nil)

// Can is what PostgreSQL can do: store.Store.
func (s *Store) Can() store.Capabilities {
	return store.Capabilities{
		FillStep:       s.FillStep,
		CopyBinaryStep: s.CopyBinaryStep,
		Reset:          s.Reset,
		Snapshots:      s,
		Checkpoint:     s.Checkpoint,
		Buffers:        s.Buffers,
		Placement:      s.Placement,
		Advise:         s.Advise,
		Examine:        s.Examine,
		BulkRead:       s,
		Changed:        s.Changed,
		DeepCheck:      s.DeepCheck,
		OpenScrub:      s.OpenScrub,
		OpenLog:        s.OpenLog,
		Backup:         s,
		Replay:         replay.Replayer{Database: s},
		Deferred:       s,
	}
}

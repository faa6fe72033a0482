package sqlserver

import "ds2/internal/store"

var _ store.Store = (*Store)(nil)

// Can is what SQL Server can do: store.Store.
func (s *Store) Can() store.Capabilities {
	return store.Capabilities{
		LocksTables:    true,
		CopyBinaryStep: s.CopyBinaryStep,
		Reset:          s.Reset,
		Snapshots:      s,
		Checkpoint:     s.Checkpoint,
		Log:            s,
		Advise:         s.Advise,
		Examine:        s.Examine,
		DeepCheck:      s.DeepCheck,
		OpenScrub:      s.OpenScrub,
		OpenLog:        s.OpenLog,
		Backup:         s,
		Replay:         s,
		Deferred:       s,
	}
}

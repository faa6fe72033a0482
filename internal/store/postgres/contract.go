package postgres

import (
	"ds2/internal/store"
	"ds2/internal/store/postgres/deepcheck"
	"ds2/internal/store/postgres/deferred"
	"ds2/internal/store/postgres/reading"
	"ds2/internal/store/postgres/replay"
)

var _ store.Database = (*Store)(nil)

// Can is what PostgreSQL can do: store.Database.
func (s *Store) Can() store.Capabilities {
	readers, deep, work := reading.Readers{Target: s}, deepcheck.Checker{Target: s}, deferred.Worker{Target: s}
	return store.Capabilities{
		LoadTable:     s.LoadTable,
		LoadBinary:    s.LoadBinary,
		Reset:         s.Reset,
		Snapshots:     s,
		Checkpoint:    s.Checkpoint,
		MayCheckpoint: work.MayCheckpoint,
		Buffers:       s.Buffers,
		Placement:     s.Placement,
		Advise:        s.Advise,
		Examine:       s.Examine,
		BulkRead:      s,
		Changed:       s.Changed,
		DeepCheck:     deep.DeepCheck,
		OpenScrub:     readers.OpenScrub,
		OpenLog:       readers.OpenLog,
		Backup:        readers,
		MayDeepCheck:  deep.MayDeepCheck,
		Replay:        replay.Replayer{Target: s},
		Deferred:      work,
	}
}

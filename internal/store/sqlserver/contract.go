package sqlserver

import (
	"ds2/internal/store"
	"ds2/internal/store/sqlserver/deepcheck"
	"ds2/internal/store/sqlserver/deferred"
	"ds2/internal/store/sqlserver/iowatch"
	"ds2/internal/store/sqlserver/replay"
)

var _ store.Database = (*Store)(nil)

// Can is what SQL Server can do: store.Database.
func (s *Store) Can() store.Capabilities {
	deep, work, watcher := deepcheck.Checker{Target: s}, deferred.Worker{Target: s}, iowatch.Watcher{Target: s}
	return store.Capabilities{
		LocksTables:   true,
		LoadBinary:    s.LoadBinary,
		Reset:         s.Reset,
		Snapshots:     s,
		Checkpoint:    s.Checkpoint,
		MayCheckpoint: work.MayCheckpoint,
		DropCache:     s.DropCache,
		MayDropCache:  s.MayDropCache,
		IOFaults:      watcher.Faults,
		TimeIO:        watcher.TimeIO,
		MayTimeIO:     watcher.MayTimeIO,
		Log:           s,
		Placement:     s.Placement,
		Advise:        s.Advise,
		Examine:       s.Examine,
		DeepCheck:     deep.DeepCheck,
		OpenScrub:     s.readers.OpenScrub,
		OpenLog:       s.readers.OpenLog,
		Backup:        s.readers,
		MayDeepCheck:  deep.MayDeepCheck,
		Replay:        replay.Replayer{Target: s},
		Deferred:      work,
	}
}

package sqlserver

import "ds2/internal/store"

// What of the contract this engine fulfils.
var (
	_ store.Store        = (*Store)(nil)
	_ store.Loader       = (*Store)(nil)
	_ store.BinaryCopier = (*Store)(nil)
	_ store.TableLocker  = (*Store)(nil)
	_ store.Resetter     = (*Store)(nil)
	_ store.Snapshotter  = (*Store)(nil)
	_ store.Checkpointer = (*Store)(nil)
	_ store.Examiner     = (*Store)(nil)
	_ store.DeepChecker  = (*Store)(nil)
	_ store.Scrubber     = (*Store)(nil)
	_ store.LogSender    = (*Store)(nil)
	_ store.Debtor       = (*Store)(nil)
)

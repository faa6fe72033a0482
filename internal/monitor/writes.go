package monitor

import (
	"context"
	"slices"

	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// withoutJournals is how flushes stand among the writes of drives whose file systems' journals are
// not to be seen: all are empty ones, but for those of a log that is synced with its file's times,
// which the journal writes.
func withoutJournals(targets []target, drives []topology.Drive) map[string]topology.Flushing {
	withoutTimes := []string{"fdatasync", "open_datasync"}
	withTimes := slices.ContainsFunc(targets, func(t target) bool {
		return !slices.Contains(withoutTimes, t.Settings["wal_sync_method"])
	})
	all := map[string]topology.Flushing{}
	for _, d := range drives {
		if mayHoldLog := len(d.Roles) == 0 || d.Holds(topology.Log); mayHoldLog && withTimes {
			all[d.Name] = topology.Flushing{
				Unknown: "the log is not known to be synced by fdatasync or open_datasync, and " +
					"which flushes came with writes of the file system's journal can be seen on the machine itself " +
					"only, of ext4 and XFS",
			}
		}
	}
	return all
}

// markUncounted says which drives a machine's counters do not count at all, and marks those whose
// writes are unknown.
func (s *seen) markUncounted(
	ctx context.Context,
	drives []topology.Drive,
	src sampling.Source,
) error {
	values := make([]float64, len(src.Figures))
	if err := src.Read(ctx, values); err != nil {
		return err
	}
	for _, drive := range src.Uncounted(values) {
		s.note("the requests of drive %s are not counted: see its queue/iostats in /sys/block", drive)
	}
	for i, d := range drives {
		if why := src.WritesUnknown(d.Name); why != "" {
			drives[i].WritesUnknown = why
			s.note("the writes of drive %s are unknown: %s", d.Name, why)
		}
	}
	return nil
}

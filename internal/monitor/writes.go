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
func (w *Observer) withoutJournals(drives []topology.Drive) map[string]topology.Flushing {
	withTimes := len(w.Servers) == 0 ||
		slices.ContainsFunc(w.Servers, func(s topology.Server) bool {
			return !slices.Contains(
				[]string{"fdatasync", "open_datasync"},
				s.Settings["wal_sync_method"],
			)
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

// addCounters has a machine's counters sampled, and says which drives they do not count at all, and
// of which the writes are unknown.
func (w *Observer) addCounters(
	ctx context.Context,
	drives []topology.Drive,
	src sampling.Source,
) error {
	values := make([]float64, len(src.Figures))
	if err := src.Read(ctx, values); err != nil {
		return err
	}
	for _, drive := range src.Uncounted(values) {
		w.addNote(
			"the requests of drive %s are not counted: see its queue/iostats in /sys/block",
			drive,
		)
	}
	for i, d := range drives {
		if why := src.WritesUnknown(d.Name); why != "" {
			drives[i].WritesUnknown = why
			w.addNote("the writes of drive %s are unknown: %s", d.Name, why)
		}
	}
	w.Sources = append(w.Sources, src)
	return nil
}

package monitor

import (
	"context"
	"math"
	"slices"
)

// What an I/O is. A drive with a write-back cache keeps what was written only when its cache is
// flushed. The kernel counts such a flush twice: as the flush request that the drive got (since
// Linux 5.5), and where a process waited for it, as with fdatasync, as a write without data (on all
// kernels, since an empty bio with REQ_PREFLUSH is a write). A write with data may bring flushes
// too, as those of a file system's journal do: one before it and, where the drive has no FUA, one
// after it. It counts as the one write that it is, so
//
//	empty flushes = flush requests − journal writes × (FUA ? 1 : 2)
//
// Without a write-back cache the kernel ends flushes before it counts anything. Devices without
// request queues (MD, device mapper, NVMe with several paths) count as their driver likes, and no
// flush requests. See "What an I/O is" in docs/explanation/method.md.

// flushing is how the flushes of a drive stand among its writes.
type flushing struct {
	through        bool    // there are none: the drive has no write-back cache
	ofJournalWrite float64 // flush requests that a write of a file system's journal makes
	unknown        string  // why the empty ones cannot be told from writes
}

// writeCounter takes the empty flushes out of a drive's writes. It counts from its first reading
// on.
type writeCounter struct {
	flushing
	was             []float64
	writes, seconds float64
}

// count puts in place of what the kernel calls writes, and of their time, those that carry data;
// NaN where these are not known. An empty flush takes as long as the flush request that it waits
// for.
func (w *writeCounter) count(now []float64) {
	if w.unknown != "" || math.IsNaN(now[diskWrites]) {
		now[diskWrites] = math.NaN()
		now[diskWriteSeconds] = math.NaN()
		return
	}
	raw := slices.Clone(now)
	if w.was == nil ||
		raw[diskWrites] < w.was[diskWrites] { // the first reading, or another drive of this name
		w.was = raw
		w.writes = 0
		w.seconds = 0
	}
	empty, seconds := w.empty(w.was, raw)
	w.writes += raw[diskWrites] - w.was[diskWrites] - empty
	w.seconds += max(0, elapsed(w.was, raw, diskWriteSeconds)-seconds)
	w.was = raw
	now[diskWrites] = w.writes
	now[diskWriteSeconds] = w.seconds
}

// empty is how many of the writes between two readings were empty flushes, and how long these took
// together.
func (f flushing) empty(was, now []float64) (flushes, seconds float64) {
	all := now[diskFlushes] - was[diskFlushes]
	if f.through || !(all > 0) {
		return 0, 0
	}
	flushes = all
	if journal := now[diskJournalWrites] - was[diskJournalWrites]; journal > 0 {
		flushes = max(0, all-f.ofJournalWrite*journal)
	}
	flushes = min(flushes, now[diskWrites]-was[diskWrites])
	return flushes, elapsed(was, now, diskFlushSeconds) * flushes / all
}

// elapsed is what a sum of times grew by. The kernel shows it as milliseconds of 32 bits: those of
// writes begin anew each six days where eight are always under way.
func elapsed(was, now []float64, kind int) float64 {
	grew := now[kind] - was[kind]
	if grew < 0 {
		grew += (1 << 32) / 1000.
	}
	return grew
}

// withoutJournals is how flushes stand among the writes of drives whose file systems' journals are
// not to be seen: all are empty ones, but for those of a log that is synced with its file's times,
// which the journal writes.
func (w *Observer) withoutJournals(drives []Drive) map[string]flushing {
	withTimes := len(w.Servers) == 0 || slices.ContainsFunc(w.Servers, func(s Server) bool {
		return !slices.Contains(
			[]string{"fdatasync", "open_datasync"},
			s.Settings["wal_sync_method"],
		)
	})
	all := map[string]flushing{}
	for _, d := range drives {
		if mayHoldLog := len(d.Roles) == 0 || d.holds(Log); mayHoldLog && withTimes {
			all[d.Name] = flushing{
				unknown: "the log is not known to be synced by fdatasync or open_datasync, and " +
					"which flushes came with writes of the file system's journal can be seen on the machine itself " +
					"only, of ext4 and XFS",
			}
		}
	}
	return all
}

// sample has a machine's counters sampled, and says which drives they do not count at all, and of
// which the writes are unknown.
func (w *Observer) sample(ctx context.Context, drives []Drive, src Source) error {
	values := make([]float64, len(src.Figures))
	if err := src.Read(ctx, values); err != nil {
		return err
	}
	for i, f := range src.Figures {
		if f.Name == diskKinds[diskReads].figure && math.IsNaN(values[i]) {
			w.note("the requests of drive %s are not counted: "+
				"see its queue/iostats in /sys/block", f.Item)
		}
	}
	for i, d := range drives {
		if counter := src.writes[d.Name]; counter != nil && counter.unknown != "" {
			drives[i].WritesUnknown = counter.unknown
			w.note("the writes of drive %s are unknown: %s", d.Name, counter.unknown)
		}
	}
	w.Sources = append(w.Sources, src)
	return nil
}

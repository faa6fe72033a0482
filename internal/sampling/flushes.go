package sampling

import (
	"math"
	"slices"

	"ds2/internal/topology"
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

// writeCounter takes the empty flushes out of a drive's writes. It counts from its first reading
// on.
type writeCounter struct {
	topology.Flushing
	was             []float64
	writes, seconds float64
}

// countWrites puts in place of what the kernel calls writes, and of their time, those that carry
// data; NaN where these are not known. An empty flush takes as long as the flush request that it
// waits for.
func (w *writeCounter) countWrites(now []float64) {
	if w.Unknown != "" || math.IsNaN(now[diskWrites]) {
		now[diskWrites] = math.NaN()
		now[diskWriteSeconds] = math.NaN()
		return
	}
	raw := slices.Clone(now)
	// the first reading, or another drive of this name
	if w.was == nil || raw[diskWrites] < w.was[diskWrites] {
		w.was = raw
		w.writes = 0
		w.seconds = 0
	}
	empty, seconds := w.countEmpty(w.was, raw)
	w.writes += raw[diskWrites] - w.was[diskWrites] - empty
	w.seconds += max(0, elapsedBetween(w.was, raw, diskWriteSeconds)-seconds)
	w.was = raw
	now[diskWrites] = w.writes
	now[diskWriteSeconds] = w.seconds
}

// countEmpty is how many of the writes between two readings were empty flushes, and how long these
// took together.
func (w *writeCounter) countEmpty(was, now []float64) (flushes, seconds float64) {
	all := now[diskFlushes] - was[diskFlushes]
	if w.Through || !(all > 0) {
		return 0, 0
	}
	flushes = all
	if journal := now[diskJournalWrites] - was[diskJournalWrites]; journal > 0 {
		flushes = max(0, all-w.OfJournalWrite*journal)
	}
	flushes = min(flushes, now[diskWrites]-was[diskWrites])
	return flushes, elapsedBetween(was, now, diskFlushSeconds) * flushes / all
}

// elapsedBetween is what a sum of times grew by. The kernel shows it as milliseconds of 32 bits:
// those of writes begin anew each six days where eight are always under way.
func elapsedBetween(was, now []float64, kind int) float64 {
	grew := now[kind] - was[kind]
	if grew < 0 {
		grew += (1 << 32) / 1000.
	}
	return grew
}

// WritesUnknown says why the writes of a drive that the source counts cannot be told from its
// flushes; empty where they can.
func (s Source) WritesUnknown(drive string) string {
	if counter := s.writes[drive]; counter != nil {
		return counter.Unknown
	}
	return ""
}

// Uncounted are the drives whose requests are not counted, by the source's values.
func (s Source) Uncounted(values []float64) (drives []string) {
	for i, f := range s.Figures {
		if f.Name == figureKinds["drive"][diskReads].figure && math.IsNaN(values[i]) {
			drives = append(drives, f.Item)
		}
	}
	return drives
}

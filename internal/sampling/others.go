package sampling

import (
	"math"
	"time"

	"ds2/internal/topology"
)

// What other programs do on a drive the kernel counts with what the servers do. A server counts its
// own: the reads that it asks the kernel for, of which the drives see those that the kernel's cache
// does not have; and the pages that it writes, of which the kernel may write several at once, or
// one that was written twice but once, and none of itself.

// From which share of the servers' own, and from how many a second, I/Os of others change what is
// measured.
const (
	muchOfOthers = 0.10
	fewOfOthers  = 10
)

// The kernel writes a page as late as that (vm.dirty_expire_centisecs), and with a write of a file
// system's journal as many others.
const (
	writtenLate  = 30 * time.Second
	ofOneJournal = 4
)

// takeOthers takes out of the data's reads and writes, and out of their bytes, what is more than
// the servers did by what they count. That is nothing where they do not count, or have not yet
// counted what a vacuum does, and of several drives, of which one may have copies or parities of
// what another has.
func (d Drives) takeOthers(s *Storage, bytes float64) (rest float64) {
	if d.vacuumUnderWay() || len(d.items(DiskReads, topology.Data)) > 1 {
		return bytes
	}
	beyond := func(ios, own float64) float64 {
		if more := ios - own; more > max(muchOfOthers*own, fewOfOthers) { // not NaN
			return more
		}
		return 0
	}
	reads := beyond(s.Reads, d.ownReads())
	writes := beyond(s.Writes, d.ownWrites(s.Shared))
	if s.Others = reads + writes; s.Others > 0 {
		bytes *= 1 - s.Others/(s.Reads+s.Writes)
		s.Reads -= reads
		s.Writes -= writes
	}
	return bytes
}

// ownReads are the reads a second that the servers had the drives of the data do, at most; NaN
// where that is unknown. What the kernel fetched for their processes leaves those out that its
// cache had.
func (d Drives) ownReads() float64 {
	own := d.sumMeans(DatabasePageReads)
	counted := d.sumMeans(TransactionReads) + d.sumMeans(VacuumReads)
	if files := d.Machine.FileNames(topology.Data, ""); len(files) > 0 {
		own = d.sumIO(files...).Reads
	} else if !math.IsNaN(counted) {
		own = counted
	}
	own += d.temporaryPages()
	servers := len(d.Counters.Items(DatabaseLogBytes))
	if len(d.Counters.Items(ServerReadBytes)) < servers {
		return own
	}
	if fetched := d.sumMeans(ServerReadBytes) / PageBytes; fetched < own { // not NaN
		return fetched
	}
	return own
}

// ownWrites are the writes a second that the servers had the drives of the data do, at most; NaN
// where that is unknown.
func (d Drives) ownWrites(withLog bool) float64 {
	// What servers wrote before the window may reach the drives within it. So all of the longer
	// time is taken to: an upper bound, laid on the window's length below.
	late := d
	late.From = d.From.Add(-writtenLate)
	if rows := d.Counters.Rows; len(rows) > 0 && late.From.Before(rows[0].Time.Add(-Interval)) {
		late.From = rows[0].Time.Add(-Interval)
	}
	own := late.sumMeans(DatabaseCheckpointPages) + late.sumMeans(DatabaseBackgroundPages) +
		late.sumMeans(DatabaseSessionPages)
	if files := d.Machine.FileNames(topology.Data, ""); len(files) > 0 {
		own = late.sumIO(files...).Writes
	} else if counted := late.sumMeans(TransactionWrites) + late.sumMeans(TransactionExtends) +
		late.sumMeans(VacuumWrites); !math.IsNaN(counted) {
		own = counted
	}
	own += late.temporaryPages()
	for _, drive := range d.items(DiskJournalWrites, topology.Data) {
		own += ofOneJournal * orZero(late.mean(ItemColumn(DiskJournalWrites, drive)))
	}
	if syncs := late.sumMeans(DatabaseLogSyncs); withLog &&
		late.sumMeans(DatabaseLogWrites) > syncs {
		own += late.sumMeans(DatabaseLogWrites) - syncs
	}
	return own * late.To.Sub(late.From).Seconds() / d.To.Sub(d.From).Seconds()
}

// temporaryPages are those that queries put aside.
func (d Drives) temporaryPages() float64 {
	return orZero(d.sumMeans(DatabaseTemporaryBytes) / PageBytes)
}

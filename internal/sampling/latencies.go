package sampling

import (
	"cmp"
	"math"
	"slices"
	"time"

	"ds2/internal/topology"
)

// VerdictMeans is the time over whose means Jetstress takes the maxima of latencies.
const VerdictMeans = 15 * time.Second

// Drives is what the counters say of the drives, after From and up to To.
type Drives struct {
	Counters Table
	Machine  *topology.Machine
	From, To time.Time
}

// IOKind is one kind of I/O of the drives that have a role. A write of the log takes as long as a
// commit waits for it: until it is written, and the drive's cache flushed.
type IOKind struct {
	Role  topology.Role // empty: all drives
	Write bool
	Over  time.Duration // of the means whose highest is the maximum
}

// items are those that have a column and, of drives, a role; the empty role is that of all.
func (d Drives) items(column string, role topology.Role) (names []string) {
	for _, name := range d.Counters.Items(column) {
		if _, drive := SplitColumn(name); role == "" || d.Machine.Holds(drive, role) {
			names = append(names, drive)
		}
	}
	return names
}

// isWithin says whether a sample is of the time.
func (d Drives) isWithin(sample int) bool {
	at := d.Counters.Rows[sample].Time
	return at.After(d.From) && !at.After(d.To)
}

// mean is the mean of a column; NaN where it was not measured.
func (d Drives) mean(column string) float64 { return d.Counters.Mean(column, d.From, d.To) }

// orZero is a figure, and 0 where it is unknown.
func orZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// Latency is how long I/Os of a kind took, in seconds: the mean of all, and the highest mean of a
// time as long as IOKind.Over. Both are NaN where that was not measured.
type Latency struct{ Mean, Longest float64 }

// unmeasured is the latency of I/Os that did not happen or that nobody timed.
var unmeasured = Latency{math.NaN(), math.NaN()}

// takeHigher takes the higher figures of two latencies, or those of the one that was measured.
func (l Latency) takeHigher(other Latency) Latency {
	// cmp sorts NaN before every number, where max would spread it.
	if cmp.Less(l.Mean, other.Mean) {
		l.Mean = other.Mean
	}
	if cmp.Less(l.Longest, other.Longest) {
		l.Longest = other.Longest
	}
	return l
}

// Slowest is the highest latency of a kind of I/O: the mean over all I/Os of a drive, and the
// highest mean of k.Over. It is not measured where it is unknown of one of the drives with the
// role. I/Os of data and log last as long as servers waited for them, where that is longer: what
// holds them back may lie above the drives, where no counter of theirs sees it.
func (d Drives) Slowest(k IOKind) Latency {
	drive := d.slowestDrive(k)
	if math.IsNaN(drive.Mean) {
		return drive
	}
	return drive.takeHigher(d.latencyOf(d.servedBy(k), k))
}

// MeanTime is the mean of Slowest, and whether it is what the servers waited, which was longer than
// the drives took; NaN where it was not measured.
func (d Drives) MeanTime(k IOKind) (mean float64, ofServer bool) {
	drive := d.slowestDrive(k).Mean
	slowest := d.Slowest(k).Mean
	return slowest, slowest > drive
}

// HeldAbove are the mean times of a kind of I/O as the slowest drive and as the servers had it,
// where the latter is more than twice as long.
func (d Drives) HeldAbove(k IOKind) (drive, server float64, held bool) {
	drive = d.slowestDrive(k).Mean
	server = d.latencyOf(d.servedBy(k), k).Mean
	return drive, server, server > 2*drive && server-drive > leastHeld // not NaN
}

// leastHeld is the shortest time that tells a layer above the drives from the server's own work.
const leastHeld = 5e-3

// slowestCached is what a read from the kernel's cache takes at most on average, also where CPUs
// are full.
const slowestCached = 1e-3

// servedBy are the I/Os of a kind in each sample that the servers timed themselves, for their
// sessions or by file.
func (d Drives) servedBy(k IOKind) []wait {
	none := make([]requests, len(d.Counters.Rows))
	ios := none
	flushes := none
	reached := none
	switch {
	case k.Role == topology.Log && k.Write:
		ios = d.timedRequests(DatabaseLogWrites, DatabaseLogWriteTime)
		flushes = d.timedRequests(DatabaseLogSyncs, DatabaseLogSyncTime)
	case k.Role == topology.Data && k.Write:
		ios = d.timedRequests(TransactionWrites, TransactionWriteTime)
	case k.Role == topology.Data:
		ios = d.timedRequests(TransactionReads, TransactionReadTime)
		if len(d.Counters.Items(TransactionReads)) == 0 {
			ios = d.timedRequests(DatabasePageReads, DatabasePageReadTime)
		}
		reached = d.requestsOf(d.items(DiskReads, topology.Data), requestColumns(false))
	}
	ofFiles := d.requestsOf(d.Machine.FileNames(k.Role, ""), requestColumns(k.Write))
	all := make([]wait, len(none))
	for i := range all {
		all[i] = wait{ios: ios[i], flushes: flushes[i], reached: reached[i].number}
		all[i].ios.add(ofFiles[i])
	}
	return all
}

// slowestDrive is Slowest by the drives' counters alone.
func (d Drives) slowestDrive(k IOKind) Latency {
	rate := requestColumns(k.Write).rate
	slowest := unmeasured
	for _, drive := range d.items(rate, k.Role) {
		if math.IsNaN(d.mean(ItemColumn(rate, drive))) {
			if k.Role != "" {
				return unmeasured
			}
			continue
		}
		slowest = slowest.takeHigher(d.latencyOf(d.waitsOf([]string{drive}, k), k))
	}
	return slowest
}

// ReadLatencies is the mean latency of the reads of the drives that hold data in each sample, in
// seconds; NaN where there was none.
func (d Drives) ReadLatencies() []float64 {
	reads := d.requestsOf(d.items(DiskReads, topology.Data), requestColumns(false))
	latencies := make([]float64, len(reads))
	for i, r := range reads {
		latencies[i] = r.seconds / r.number // NaN where both are 0
	}
	return latencies
}

// columnsOf are the columns of a kind of requests: how many a second, and the mean of their times
// or, as servers tell it, the sum.
type columnsOf struct {
	rate, time string
	sum        bool
}

var ofFlushes = columnsOf{DiskFlushes, DiskFlushTime, false}

// requestColumns are those of the drives' reads or writes.
func requestColumns(write bool) columnsOf {
	if write {
		return columnsOf{DiskWrites, DiskWriteTime, false}
	}
	return columnsOf{DiskReads, DiskReadTime, false}
}

// requests are some of a sample, and the seconds that they took.
type requests struct{ number, seconds float64 }

func (r *requests) add(more requests) {
	r.number += more.number
	r.seconds += more.seconds
}

// mean is the time of each; 0 where there was none.
func (r requests) mean() float64 { return orZero(r.seconds / r.number) }

// requestsOf are those of some items in each sample.
func (d Drives) requestsOf(items []string, of columnsOf) []requests {
	all := make([]requests, len(d.Counters.Rows))
	for _, item := range items {
		rates := d.Counters.Values(d.column(of.rate, item))
		times := d.Counters.Values(d.column(of.time, item))
		at := slices.Index(d.Counters.Columns, d.column(of.rate, item))
		for i := range min(len(rates), len(times)) {
			if rates[i] > 0 && times[i] >= 0 { // not NaN
				number := rates[i] * d.Counters.Rows[i].Covered(at)
				seconds := times[i] * d.Counters.Rows[i].Covered(at)
				if !of.sum {
					seconds = times[i] * number
				}
				all[i].add(requests{number, seconds})
			}
		}
	}
	return all
}

// timedRequests are requests in each sample that servers counted in one column and timed in
// another.
func (d Drives) timedRequests(counts, times string) []requests {
	return d.requestsOf(d.items(counts, ""), columnsOf{counts, times, true})
}

// wait is I/Os of a kind, and the flushes that those of the log wait for.
type wait struct {
	ios, flushes requests
	syncs        float64 // of the server's log, as far as it counts them
	reached      float64 // of a server's reads, those that drives did; 0: it is not known
}

func (w *wait) add(more wait) {
	w.ios.add(more.ios)
	w.flushes.add(more.flushes)
	w.syncs += more.syncs
	w.reached += more.reached
}

// mean is the time of each. Writes past the cache (FUA) wait for no flush: then there are fewer
// flushes than syncs. A server times reads from the kernel's cache too: where its mean is longer
// than these take, it waited for the others.
func (w wait) mean() float64 {
	if w.reached > 0 && w.reached < w.ios.number && w.ios.mean() > slowestCached {
		w.ios.number = w.reached
	}
	return w.ios.mean() + requests{max(w.flushes.number, w.syncs), w.flushes.seconds}.mean()
}

// waitsOf are those of a kind of I/O of some items in each sample.
func (d Drives) waitsOf(items []string, k IOKind) []wait {
	all := make([]wait, len(d.Counters.Rows))
	for i, r := range d.requestsOf(items, requestColumns(k.Write)) {
		all[i].ios = r
	}
	if !k.Write || k.Role != topology.Log {
		return all
	}
	for i, r := range d.requestsOf(items, ofFlushes) {
		all[i].flushes = r
	}
	// Of several servers it is not known whose log lies on which drive.
	if len(d.Counters.Items(DatabaseLogSyncs)) == 1 {
		for i, syncs := range d.sumItems(DatabaseLogSyncs) {
			all[i].syncs = orZero(syncs)
		}
	}
	return all
}

// latencyOf is that of some I/Os of a kind. A time shorter than k.Over has its mean for a maximum.
func (d Drives) latencyOf(waits []wait, k IOKind) Latency {
	var all, part wait
	longest := 0.
	end := d.From.Add(k.Over)
	for i, row := range d.Counters.Rows {
		if !d.isWithin(i) || waits[i].ios.number == 0 {
			continue
		}
		// Samples come a little late, so a part ends with the one that is nearest to its end.
		for row.Time.After(end.Add(Interval / 2)) {
			longest = max(longest, part.mean())
			part = wait{}
			end = end.Add(k.Over)
		}
		all.add(waits[i])
		part.add(waits[i])
	}
	// Of a part that the window cuts short the mean rests on few I/Os, and chance makes it high: it
	// counts only where each sample is a part by itself.
	if cutShort := d.To.Before(end.Add(-Interval / 2)); !cutShort || k.Over == Interval {
		longest = max(longest, part.mean())
	}
	if all.ios.number == 0 {
		return unmeasured
	}
	return Latency{all.mean(), max(all.mean(), longest)}
}

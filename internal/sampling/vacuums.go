package sampling

import (
	"math"
	"slices"
)

// A server counts the I/Os of a vacuum when it ends, and those of transactions at once.

// Work is reads and writes a second: those of the drives of the data without a background scan's,
// and those that the servers counted, NaN where they do not tell.
type Work struct{ Drives, Transactions, Vacuums float64 }

// Work is what was done; false where the drives were not counted.
func (d Drives) Work() (w Work, measured bool) {
	s, err := d.Storage()
	if err != nil {
		return w, false
	}
	scans, _ := d.scannedReads()
	return Work{
		Drives:       s.IOPS + orZero(s.Maintenance.IOPS()-scans),
		Transactions: d.sumMeans(TransactionReads) + d.sumMeans(TransactionWrites),
		Vacuums:      d.sumMeans(VacuumReads) + d.sumMeans(VacuumWrites),
	}, true
}

// byVacuums is how many of some I/Os of the drives a second vacuums did: the share that the servers
// counted. NaN where they do not tell. What a vacuum does that still runs at the end is not counted
// yet: it is what transactions did not ask for.
func (d Drives) byVacuums(ios float64, vacuums, transactions string) float64 {
	some := d.spreadMean(vacuums)
	asked := d.sumMeans(transactions)
	if extends := d.sumMeans(TransactionExtends); transactions == TransactionWrites && extends > 0 {
		asked += extends
	}
	counted := 0. // also where there was nothing
	if some != 0 {
		counted = ios * some / (some + asked)
	}
	if !d.vacuumUnderWay() {
		return counted // of those that have ended all is
	}
	return max(counted, ios-asked)
}

// vacuumUnderWay tells that a vacuum's server may not yet have counted what it did.
func (d Drives) vacuumUnderWay() bool {
	running := d.sumItems(DatabaseVacuums)
	last := running[max(0, len(running)-lateReport):]
	some := func(n float64) bool { return n > 0 }
	return d.sumMeans(DatabaseVacuums) > 0 && slices.ContainsFunc(last, some)
}

// lateReport is how many samples after the last in which a vacuum ran its server may count what it
// did.
const lateReport = 3

// spreadMean is the mean of what vacuums did. A server counts it when a vacuum ends: here it is of
// the time in which that ran.
func (d Drives) spreadMean(column string) float64 {
	if total := d.sumMeans(column); math.IsNaN(total) || math.IsNaN(d.sumMeans(DatabaseVacuums)) {
		return total
	}
	counted := d.sumItems(column)
	running := d.sumItems(DatabaseVacuums)
	sum := 0.
	for i, count := range counted {
		if !(count > 0) {
			continue
		}
		from := i
		// Back to the last sample in which a vacuum ran, as its server counts a little later,
		for from > 0 && i-from < lateReport && running[from] == 0 {
			from--
		}
		// and on to where it began or the one before it was counted.
		for from > 0 && running[from-1] != 0 && !(counted[from-1] > count/10) {
			from--
		}
		of := 0
		for k := from; k <= i; k++ {
			if d.isWithin(k) {
				of++
			}
		}
		sum += count * float64(of) / float64(i-from+1)
	}
	return sum / d.To.Sub(d.From).Seconds()
}

// sumItems are a column's values in each sample over the time that it covers, of all items
// together.
func (d Drives) sumItems(column string) []float64 {
	sums := make([]float64, len(d.Counters.Rows))
	for _, name := range d.Counters.Items(column) {
		at := slices.Index(d.Counters.Columns, name)
		for i, row := range d.Counters.Rows {
			sums[i] += row.Values[at] * row.Covered(at)
		}
	}
	return sums
}

// scannedReads is what scans in the background had drives read, in requests and bytes a second. A
// request that the kernel served from its cache did not reach them, as far as that is known.
func (d Drives) scannedReads() (requests, bytes float64) {
	requests = orZero(d.mean(ScrubReads))
	bytes = orZero(d.mean(ScrubReadBytes))
	if device := d.mean(ScrubDeviceBytes); !math.IsNaN(device) && bytes > 0 {
		requests = requests * device / bytes
		bytes = device
	}
	return requests, bytes
}

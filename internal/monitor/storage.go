package monitor

import (
	"math"
	"slices"
	"time"
)

// VerdictMeans is the time over whose means Jetstress takes the maxima of latencies.
const VerdictMeans = 15 * time.Second

// PageBytes is the size of a database's page, by which bytes are counted as I/Os of a page.
const PageBytes = 8192

// Drives is what the counters say of the drives, after From and up to To.
type Drives struct {
	Counters Table
	Machine  *Machine
	From, To time.Time
}

// IOKind is one kind of I/O of the drives that have a role.
type IOKind struct {
	Role  Role // empty: all drives
	Write bool
	Over  time.Duration // of the means whose highest is the maximum
}

// drives are those that have a column and a role; the empty role is every drive's.
func (d Drives) drives(column string, role Role) (names []string) {
	for _, name := range d.Counters.Items(column) {
		if _, drive := SplitColumn(name); role == "" || d.Machine.Holds(drive, role) {
			names = append(names, drive)
		}
	}
	return names
}

// mean is the mean of a column; 0 where it was not measured.
func (d Drives) mean(column string) float64 {
	if mean := d.Counters.Mean(column, d.From, d.To); !math.IsNaN(mean) {
		return mean
	}
	return 0
}

// IOPS is the reads and writes a second of the drives that hold data. Where one of them holds the log too, the log's
// writes, as the server counts them, are not among them, and neither are the reads of a background scan.
func (d Drives) IOPS() (iops float64, measured bool) {
	s := d.Storage()
	if s == nil {
		return 0, false
	}
	return s.IOPS, true
}

// Slowest is the highest latency of a kind of I/O: the mean over all I/Os of a drive, and the highest mean of k.Over.
func (d Drives) Slowest(k IOKind) (mean, longest float64, measured bool) {
	rate, _ := requestColumns(k.Write)
	for _, drive := range d.drives(rate, k.Role) {
		if m, l, ok := d.latency([]string{drive}, k.Write, k.Over); ok {
			mean, longest, measured = max(mean, m), max(longest, l), true
		}
	}
	return mean, longest, measured
}

// ReadLatencies is the mean latency of the reads of the drives that hold data in each sample, in seconds; NaN where
// there was none.
func (d Drives) ReadLatencies() []float64 {
	requests, times := d.requests(d.drives(DiskReads, Data), false)
	for i := range times {
		times[i] /= requests[i] // NaN where both are 0
	}
	return times
}

// requestColumns are those of reads or writes, and of their mean times.
func requestColumns(write bool) (rate, latency string) {
	if write {
		return DiskWrites, DiskWriteTime
	}
	return DiskReads, DiskReadTime
}

// requests are the reads or writes of some items a second, and the seconds that they took, in each sample.
func (d Drives) requests(items []string, write bool) (requests, times []float64) {
	rate, latency := requestColumns(write)
	requests, times = make([]float64, len(d.Counters.Rows)), make([]float64, len(d.Counters.Rows))
	for _, item := range items {
		rates, latencies := d.Counters.Values(d.column(rate, item)), d.Counters.Values(d.column(latency, item))
		for i := range min(len(rates), len(latencies)) {
			if rates[i] > 0 && !math.IsNaN(latencies[i]) {
				requests[i] += rates[i]
				times[i] += rates[i] * latencies[i]
			}
		}
	}
	return requests, times
}

// latency is the mean over all reads or writes of some items, and the highest mean of a length; a shorter time has its
// mean for a maximum.
func (d Drives) latency(items []string, write bool, over time.Duration) (mean, longest float64, measured bool) {
	requests, times := d.requests(items, write)
	var all, part struct{ requests, time float64 }
	end := d.From.Add(over)
	for i, row := range d.Counters.Rows {
		at := row.Time
		if !at.After(d.From) || at.After(d.To) || requests[i] == 0 {
			continue
		}
		// Samples come a little late, so a part ends with the one that is nearest to its end.
		for at.After(end.Add(Interval / 2)) {
			part.requests, part.time = 0, 0
			end = end.Add(over)
		}
		all.requests += requests[i]
		all.time += times[i]
		part.requests += requests[i]
		part.time += times[i]
		if complete := !at.Before(end.Add(-Interval/2)) || over == Interval; complete {
			longest = max(longest, part.time/part.requests)
		}
	}
	if all.requests == 0 {
		return 0, 0, false
	}
	mean = all.time / all.requests
	return mean, max(mean, longest), true
}

// Storage is what the drives did for the databases in a time, by what these keep on them. Rates are a second.
type Storage struct {
	// IOPS is the reads and writes of the drives of the data, without those of the log and of a background scan.
	IOPS float64 `json:"iops"`
	// PageIOPS is the bytes of these in pages. It is higher where the kernel merges several pages into one write.
	PageIOPS float64 `json:"page_iops"`

	Reads        float64  `json:"reads_per_s"`
	Writes       float64  `json:"writes_per_s"`
	LogWrites    float64  `json:"log_writes_per_s"`
	LogBytes     *float64 `json:"bytes_per_log_write"`
	ReadBytes    float64  `json:"read_bytes_per_s"`    // of all drives
	WrittenBytes float64  `json:"written_bytes_per_s"` // of all drives

	// What was taken out of Reads, and the bytes of that; a scan in the background had the drives read it.
	ScrubReads     float64 `json:"scrub_reads_per_s,omitempty"`
	ScrubReadBytes float64 `json:"scrub_read_bytes_per_s,omitempty"`

	IOsPerOperation *float64 `json:"ios_per_operation"`
	// IOPSPerWatt counts the log's writes too, as the published reports do.
	IOPSPerWatt *float64 `json:"iops_per_watt,omitempty"`

	// Shared says that one drive holds data and log, so that only the server's counts of the log tell the two apart.
	Shared bool `json:"shared,omitempty"`

	Volumes []Volume `json:"volumes"`

	// Databases is what the servers counted of their files themselves, where they do.
	Databases []DatabaseIO `json:"databases,omitempty"`
}

// Total is the reads and writes of data and log together, which the published reports call total IOPS.
func (s Storage) Total() float64 { return s.IOPS + s.LogWrites }

// Volume is what one drive did.
type Volume struct {
	Name    string `json:"name"`
	Machine string `json:"machine,omitempty"` // where several are observed
	Roles   []Role `json:"roles,omitempty"`
	FileIO
}

// Volumes are the drives that were counted.
func (d Drives) Volumes() (all []Volume) {
	for _, drive := range d.drives(DiskReads, "") {
		if !d.counted(drive) {
			continue
		}
		v := Volume{Name: drive, FileIO: d.io(drive)}
		if d.Machine != nil {
			if i := slices.IndexFunc(d.Machine.Drives, func(one Drive) bool { return one.Name == drive }); i >= 0 {
				v.Roles, v.Machine = d.Machine.Drives[i].Roles, d.Machine.Drives[i].Machine
			}
		}
		all = append(all, v)
	}
	return all
}

// counted says whether somebody counted a drive's requests in the time.
func (d Drives) counted(drive string) bool {
	return !math.IsNaN(d.Counters.Mean(ItemColumn(DiskReads, drive), d.From, d.To))
}

// total is the sum of a column's means over all items; NaN where there are none, or one of them has no value.
func (d Drives) total(column string) float64 {
	sum := math.NaN()
	for i, name := range d.Counters.Items(column) {
		if i == 0 {
			sum = 0
		}
		sum += d.Counters.Mean(name, d.From, d.To)
	}
	return sum
}

// known says whether the drives of a role are known, and all of them were counted.
func (d Drives) known(role Role) bool {
	known := false
	for _, drive := range d.Machine.Drives {
		if drive.holds(role) {
			known = true
			if !d.counted(drive.Name) {
				return false
			}
		}
	}
	return known
}

// Storage sums up what the drives did; nil where it is not known which hold data and log, or nobody counted these or,
// of one drive that holds both, what of its writes was the log's.
func (d Drives) Storage() *Storage {
	if d.Machine == nil || !d.known(Data) || !d.known(Log) {
		return nil
	}
	s := &Storage{Volumes: d.Volumes()}
	var bytes, logBytes float64
	for _, v := range s.Volumes {
		s.ReadBytes += v.ReadBytes
		s.WrittenBytes += v.WrittenBytes
		data, log := v.Keeps(Data), v.Keeps(Log)
		switch {
		case data:
			s.Reads += v.Reads
			s.Writes += v.Writes
			bytes += v.ReadBytes + v.WrittenBytes
			s.Shared = s.Shared || log
		case log:
			s.LogWrites += v.Writes
			logBytes += v.WrittenBytes
		}
	}
	if s.Shared { // of the log's writes, those that did not go to a drive of its own
		writes, written := max(0, d.total(DatabaseLogSyncs)-s.LogWrites), max(0, d.total(DatabaseLogBytes)-logBytes)
		if math.IsNaN(writes + written) {
			return nil
		}
		s.LogWrites, logBytes = s.LogWrites+writes, logBytes+written
		s.Writes, bytes = max(0, s.Writes-writes), max(0, bytes-written)
	}
	s.ScrubReads, s.ScrubReadBytes = d.scrubbed()
	s.Reads, bytes = max(0, s.Reads-s.ScrubReads), max(0, bytes-s.ScrubReadBytes)
	s.Databases = d.Databases()
	s.IOPS, s.PageIOPS = s.Reads+s.Writes, bytes/PageBytes
	if s.LogWrites > 0 {
		s.LogBytes = new(logBytes / s.LogWrites)
	}
	return s
}

// Keeps says whether the volume is known to have a role.
func (v Volume) Keeps(role Role) bool { return slices.Contains(v.Roles, role) }

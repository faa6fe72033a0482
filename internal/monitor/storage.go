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

func (k IOKind) columns() (rate, latency string) {
	if k.Write {
		return DiskWrites, DiskWriteTime
	}
	return DiskReads, DiskReadTime
}

// each calls f with each drive that has a column and a role; the empty role is every drive's.
func (d Drives) each(column string, role Role, f func(drive string)) {
	for _, name := range d.Counters.Items(column) {
		if _, drive := SplitColumn(name); role == "" || d.Machine.Holds(drive, role) {
			f(drive)
		}
	}
}

// mean is the mean of a column of a drive; 0 where it was not measured.
func (d Drives) mean(column, drive string) float64 {
	if mean := d.Counters.Mean(ItemColumn(column, drive), d.From, d.To); !math.IsNaN(mean) {
		return mean
	}
	return 0
}

// IOPS is the reads and writes a second of the drives that hold data. Where one of them holds the log too, the log's writes,
// as the server counts them, are not among them, and neither are the reads of a background scan.
func (d Drives) IOPS() (iops float64, measured bool) {
	s := d.Storage()
	if s == nil {
		return 0, false
	}
	return s.IOPS, true
}

// Slowest is the highest latency of a kind of I/O: the mean over all I/Os of a drive, and the highest mean of k.Over.
func (d Drives) Slowest(k IOKind) (mean, longest float64, measured bool) {
	rate, _ := k.columns()
	d.each(rate, k.Role, func(drive string) {
		if m, l, ok := d.latency(drive, k); ok {
			mean, longest, measured = max(mean, m), max(longest, l), true
		}
	})
	return mean, longest, measured
}

// ReadLatencies is the mean latency of the reads of the drives that hold data in each sample, in seconds; NaN where there was none.
func (d Drives) ReadLatencies() []float64 {
	var drives []string
	d.each(DiskReads, Data, func(drive string) { drives = append(drives, drive) })
	_, latencies := d.together(drives, func(drive string) (rates, latencies []float64) {
		return d.Counters.Values(ItemColumn(DiskReads, drive)), d.Counters.Values(ItemColumn(DiskReadTime, drive))
	})
	return latencies
}

// together are the rates and the mean latencies of all I/Os of several items in each sample, of those of each; NaN where there was none.
func (d Drives) together(items []string, of func(item string) (rates, latencies []float64)) (rates, latencies []float64) {
	rates, latencies = make([]float64, len(d.Counters.Rows)), make([]float64, len(d.Counters.Rows))
	for _, item := range items {
		own, times := of(item)
		for i := range min(len(own), len(times)) {
			if own[i] > 0 && !math.IsNaN(times[i]) {
				rates[i] += own[i]
				latencies[i] += own[i] * times[i]
			}
		}
	}
	for i := range latencies {
		latencies[i] /= rates[i] // NaN where both are 0
	}
	return rates, latencies
}

// latency is that of one drive. A time shorter than k.Over has its mean for a maximum.
func (d Drives) latency(drive string, k IOKind) (mean, longest float64, measured bool) {
	rateColumn, latencyColumn := k.columns()
	return d.slowest(d.Counters.Values(ItemColumn(rateColumn, drive)), d.Counters.Values(ItemColumn(latencyColumn, drive)), k.Over)
}

// slowest is the mean over all I/Os, of which the rates and the mean latencies of each second are given, and the highest mean of
// a length.
func (d Drives) slowest(rates, latencies []float64, over time.Duration) (mean, longest float64, measured bool) {
	if rates == nil || latencies == nil {
		return 0, 0, false
	}
	var all, part struct{ requests, time float64 }
	end := d.From.Add(over)
	for i, latency := range latencies {
		at := d.Counters.Rows[i].Time
		if !at.After(d.From) || at.After(d.To) || math.IsNaN(latency) || math.IsNaN(rates[i]) {
			continue
		}
		// Samples come a little late, so a part ends with the one that is nearest to its end.
		for at.After(end.Add(Interval / 2)) {
			part.requests, part.time = 0, 0
			end = end.Add(over)
		}
		all.requests += rates[i]
		all.time += rates[i] * latency
		part.requests += rates[i]
		part.time += rates[i] * latency
		if complete := !at.Before(end.Add(-Interval/2)) || over == Interval; complete && part.requests > 0 {
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

	// LogRead is what readers of the log got of it, in bytes.
	LogRead float64 `json:"log_read_bytes_per_s,omitempty"`

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
	d.each(DiskReads, "", func(drive string) {
		if d.counted(DiskReads, drive) {
			all = append(all, d.volume(drive))
		}
	})
	return all
}

// counted says whether a column of an item has a value in the time.
func (d Drives) counted(column, item string) bool {
	return !math.IsNaN(d.Counters.Mean(ItemColumn(column, item), d.From, d.To))
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
		if slices.Contains(drive.Roles, role) {
			known = true
			if !d.counted(DiskReads, drive.Name) {
				return false
			}
		}
	}
	return known
}

// Storage sums up what the drives did; nil where it is not known which hold data and log, or nobody counted these or, of one drive
// that holds both, what of its writes was the log's.
func (d Drives) Storage() *Storage {
	if d.Machine == nil || !d.known(Data) || !d.known(Log) {
		return nil
	}
	s := &Storage{Volumes: d.Volumes()}
	var bytes, logBytes float64
	for _, v := range s.Volumes {
		s.ReadBytes += v.ReadBytes
		s.WrittenBytes += v.WrittenBytes
		data, log := d.Machine.Holds(v.Name, Data), d.Machine.Holds(v.Name, Log)
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
	s.LogRead = d.mean(CopiesReadBytes, "")
	s.Databases = d.Databases()
	s.IOPS, s.PageIOPS = s.Reads+s.Writes, bytes/PageBytes
	if s.LogWrites > 0 {
		s.LogBytes = new(logBytes / s.LogWrites)
	}
	return s
}

// Keeps says whether the volume is known to have a role.
func (v Volume) Keeps(role Role) bool { return slices.Contains(v.Roles, role) }

func (d Drives) volume(drive string) Volume {
	v := Volume{
		Name: drive,
		FileIO: FileIO{
			Reads: d.mean(DiskReads, drive), Writes: d.mean(DiskWrites, drive),
			ReadBytes: d.mean(DiskReadBytes, drive), WrittenBytes: d.mean(DiskWrittenBytes, drive),
		},
	}
	if d.Machine != nil {
		if i := slices.IndexFunc(d.Machine.Drives, func(one Drive) bool { return one.Name == drive }); i >= 0 {
			v.Roles, v.Machine = d.Machine.Drives[i].Roles, d.Machine.Drives[i].Machine
		}
	}
	v.ReadMean, v.ReadMax = known(d.latency(drive, IOKind{Over: VerdictMeans}))
	v.WriteMean, v.WriteMax = known(d.latency(drive, IOKind{Write: true, Over: VerdictMeans}))
	return v
}

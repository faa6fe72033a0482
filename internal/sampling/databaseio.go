package sampling

import (
	"math"
	"slices"

	"ds2/internal/measure"
	"ds2/internal/topology"
)

// DatabaseIO is what a server counted of a database's files.
type DatabaseIO struct {
	Database string `json:"database"`
	Data     FileIO `json:"data"`
	Log      FileIO `json:"log"`
}

// FileIO is the I/O of a drive, or of the files of a role together, a second.
type FileIO struct {
	Reads        float64 `json:"reads_per_s"`
	Writes       float64 `json:"writes_per_s"`
	ReadBytes    float64 `json:"read_bytes_per_s"`
	WrittenBytes float64 `json:"written_bytes_per_s"`
	Times
	Flushes   *float64 `json:"flushes_per_s,omitempty"` // of the drive's cache
	FlushMean *float64 `json:"flush_mean_s,omitempty"`
}

// Times are those of I/Os, in seconds, and missing where there was none; the maxima are over means
// of VerdictMeans.
type Times struct {
	ReadMean  *float64 `json:"read_mean_s"`
	ReadMax   *float64 `json:"read_max_s"`
	WriteMean *float64 `json:"write_mean_s"`
	WriteMax  *float64 `json:"write_max_s"`
}

// Databases sums up what servers counted of their files, a database each in the order of the
// targets.
func (d Drives) Databases() (all []DatabaseIO) {
	if d.Machine == nil {
		return nil
	}
	for _, f := range d.Machine.Files {
		if !slices.ContainsFunc(all, func(io DatabaseIO) bool {
			return io.Database == f.Database
		}) {
			data := d.Machine.FileNames(topology.Data, f.Database)
			log := d.Machine.FileNames(topology.Log, f.Database)
			all = append(all, DatabaseIO{f.Database, d.sumIO(data...), d.sumIO(log...)})
		}
	}
	return all
}

// PageReads are the pages a second that a database had read, and how long each took, as its server
// counted them; NaN where it does not tell.
func (d Drives) PageReads(target string) (pages, seconds float64) {
	if !slices.Contains(d.Counters.Columns, ItemColumn(DatabasePageReads, target)) {
		target = "" // the only one
	}
	pages = d.mean(ItemColumn(DatabasePageReads, target))
	return pages, d.mean(ItemColumn(DatabasePageReadTime, target)) / pages
}

// sumIO is the I/O of drives or of files, all together.
func (d Drives) sumIO(items ...string) (io FileIO) {
	for _, item := range items {
		// What was not measured adds nothing. Whether a drive was counted at all is asked
		// elsewhere.
		io.Reads += orZero(d.mean(d.column(DiskReads, item)))
		io.Writes += orZero(d.mean(d.column(DiskWrites, item)))
		io.ReadBytes += orZero(d.mean(d.column(DiskReadBytes, item)))
		io.WrittenBytes += orZero(d.mean(d.column(DiskWrittenBytes, item)))
	}
	io.Times = d.meanTimes("", func(k IOKind) []wait { return d.waitsOf(items, k) })
	io.Flushes, io.FlushMean = d.flushes(items)
	return io
}

// meanTimes are those of I/Os of a role, of which waits gives those of a kind.
func (d Drives) meanTimes(role topology.Role, waits func(IOKind) []wait) Times {
	reads := IOKind{Role: role, Over: VerdictMeans}
	writes := reads
	writes.Write = true
	read := d.latencyOf(waits(reads), reads)
	wrote := d.latencyOf(waits(writes), writes)
	return Times{
		measure.Known(read.Mean), measure.Known(read.Longest),
		measure.Known(wrote.Mean), measure.Known(wrote.Longest),
	}
}

// column is that of a drive, or of a volume or a file, which has its own where it does not stand
// for a drive.
func (d Drives) column(ofDrive, item string) string {
	for _, own := range []string{OfFile(ofDrive), ofVolume(ofDrive)} {
		if column := ItemColumn(own, item); slices.Contains(d.Counters.Columns, column) {
			return column
		}
	}
	return ItemColumn(ofDrive, item)
}

// flushes are those of the drives' caches a second, and the mean time of those that were timed; nil
// where not counted.
func (d Drives) flushes(items []string) (rate, mean *float64) {
	sum := 0.0
	for _, item := range items {
		sum += d.mean(ItemColumn(DiskFlushes, item))
	}
	if len(items) == 0 || math.IsNaN(sum) {
		return nil, nil
	}
	var timed requests
	for i, sample := range d.requestsOf(items, ofFlushes) {
		if d.isWithin(i) {
			timed.add(sample)
		}
	}
	return &sum, measure.Known(timed.seconds / timed.number)
}

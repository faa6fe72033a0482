package monitor

import (
	"cmp"
	"slices"
	"strings"
)

// DatabaseFile is a file of a database whose I/O its server counts.
type DatabaseFile struct {
	Name     string `json:"name"` // in the counters' columns
	Database string `json:"database"`
	Role     Role   `json:"role"`
}

// DatabaseIO is what a server counted of a database's files.
type DatabaseIO struct {
	Database string `json:"database"`
	Data     FileIO `json:"data"`
	Log      FileIO `json:"log"`
}

// FileIO is the I/O of a drive, or of the files of a role together, a second. Times are in seconds, and missing where there was no
// such I/O; the maxima are over means of VerdictMeans.
type FileIO struct {
	Reads        float64  `json:"reads_per_s"`
	Writes       float64  `json:"writes_per_s"`
	ReadBytes    float64  `json:"read_bytes_per_s"`
	WrittenBytes float64  `json:"written_bytes_per_s"`
	ReadMean     *float64 `json:"read_mean_s"`
	ReadMax      *float64 `json:"read_max_s"`
	WriteMean    *float64 `json:"write_mean_s"`
	WriteMax     *float64 `json:"write_max_s"`
}

// Databases sums up what servers counted of their files, a database each in the order of the targets.
func (d Drives) Databases() (all []DatabaseIO) {
	if d.Machine == nil {
		return nil
	}
	for _, f := range d.Machine.Files {
		if !slices.ContainsFunc(all, func(io DatabaseIO) bool { return io.Database == f.Database }) {
			all = append(all, DatabaseIO{f.Database, d.filesIO(f.Database, Data), d.filesIO(f.Database, Log)})
		}
	}
	return all
}

// filesIO adds up a database's files of a role.
func (d Drives) filesIO(database string, role Role) (io FileIO) {
	var files []string
	for _, f := range d.Machine.Files {
		if f.Database == database && f.Role == role {
			files = append(files, f.Name)
		}
	}
	for _, file := range files {
		mean := func(column string) float64 { return cmp.Or(d.mean(column, file), d.mean(asDrive(column), file)) }
		io.Reads += mean(FileReads)
		io.Writes += mean(FileWrites)
		io.ReadBytes += mean(FileReadBytes)
		io.WrittenBytes += mean(FileWrittenBytes)
	}
	io.ReadMean, io.ReadMax = d.filesLatency(files, FileReads, FileReadTime)
	io.WriteMean, io.WriteMax = d.filesLatency(files, FileWrites, FileWriteTime)
	return io
}

// asDrive is the column of a file that stands for a drive.
func asDrive(column string) string { return "disk" + strings.TrimPrefix(column, "file") }

// filesLatency is the latency of all I/Os of files: nil where there were none.
func (d Drives) filesLatency(files []string, rate, latency string) (mean, longest *float64) {
	values := func(column, file string) []float64 {
		if v := d.Counters.Values(ItemColumn(column, file)); v != nil {
			return v
		}
		return d.Counters.Values(ItemColumn(asDrive(column), file))
	}
	rates, times := d.together(files, func(file string) (rates, latencies []float64) {
		return values(rate, file), values(latency, file)
	})
	return known(d.slowest(rates, times, VerdictMeans))
}

// known are a mean and a maximum, nil where nobody measured them.
func known(mean, longest float64, measured bool) (*float64, *float64) {
	if !measured {
		return nil, nil
	}
	return &mean, &longest
}

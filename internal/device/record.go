// Package device measures what a drive, array or volume can do by itself, by fio: the scale on which a run's own reads
// and log writes are read. It also preconditions flash, so that it is measured in the state in which it will stay. What
// a run took from the device is for others to know.
package device

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"ds2/internal/atomicfile"
)

// Format is the version of the record.
const Format = 1

// BlockBytes is the size of the reads and writes that are measured: a page of the databases.
const BlockBytes = 8192

// compressible is the part of each written block, in percent, that shrinks: LZ4 makes 1.94 : 1 of the block, and so
// does zlib. A database's pages shrink about 2 : 1, each by itself and no two alike (docs/explanation/data.md).
const compressible = 50

// Record is what was measured of a device.
type Record struct {
	Format     int       `json:"format"`
	Kind       string    `json:"kind"` // "device"
	KitVersion string    `json:"kit_version"`
	Fio        string    `json:"fio"` // its version
	Start      time.Time `json:"start"`
	Path       string    `json:"path"` // the directory, or the device
	Bytes      int64     `json:"bytes"`
	StageTime  float64   `json:"stage_s"` // for which each point was measured

	Preconditioning *Preconditioning `json:"preconditioning,omitempty"`

	SequentialWrite float64 `json:"sequential_write_bytes_per_second"` // of 1 MiB, while the file was filled

	// By rising depth.
	Reads []Point `json:"random_reads"`
	Mixed []Point `json:"random_70_30"` // 70 % reads, 30 % writes
	// Over what is written already, one after the other, each synced: a write and a flush of the device.
	Log Point `json:"log_writes"`
}

// Point is what the device did at a depth. Times are in seconds.
type Point struct {
	Depth  int     `json:"depth"`
	IOPS   float64 `json:"iops"` // reads and writes together
	Reads  float64 `json:"reads_per_second"`
	Writes float64 `json:"writes_per_second"`
	Mean   float64 `json:"mean_s"` // of log writes with the sync
	P50    float64 `json:"p50_s"`  // of reads, where there are any; of log writes of the sync alone
	P95    float64 `json:"p95_s"`
	P99    float64 `json:"p99_s"`
}

// Preconditioning is how the device was brought to its steady state.
type Preconditioning struct {
	Sequential []float64 `json:"sequential_bytes_per_second"` // of each pass
	Rounds     []float64 `json:"random_write_iops"`           // of each round
	Steady     bool      `json:"steady"`                      // the last five rounds were
}

// MaxReads is the most random reads a second at any depth.
func (r *Record) MaxReads() float64 {
	most := 0.0
	for _, p := range r.Reads {
		most = max(most, p.IOPS)
	}
	return most
}

// Curve is reads over latency: the most that a device does up to a latency, by rising latency. With rising depth a
// saturated device gains latency only, and may lose reads.
type Curve []Point

// Curve is that of random reads.
func (r *Record) Curve() (c Curve) {
	byLatency := func(a, b Point) int { return cmp.Compare(a.Mean, b.Mean) }
	for _, p := range slices.SortedFunc(slices.Values(r.Reads), byLatency) {
		if len(c) == 0 || p.IOPS > c[len(c)-1].IOPS {
			c = append(c, p)
		}
	}
	return c
}

// ReadsAt is how many random reads a second the device does while one takes this many seconds on average: between two
// points by the logarithm of both. Faster than alone the device is not, and beyond the last depth it does no more than
// its most.
func (c Curve) ReadsAt(latency float64) float64 {
	switch i := slices.IndexFunc(c, func(p Point) bool { return p.Mean > latency }); i {
	case -1:
		return c[len(c)-1].IOPS
	case 0:
		return c[0].IOPS
	default:
		return between(c[i-1].Mean, latency, c[i].Mean, c[i-1].IOPS, c[i].IOPS)
	}
}

// between is where on the way from a to b that is which x is from low to high, by logarithms.
func between(low, x, high, a, b float64) float64 {
	return a * math.Pow(b/a, math.Log(x/low)/math.Log(high/low))
}

// Save writes the record.
func (r *Record) Save(path string) error {
	return atomicfile.WriteJSON(path, r)
}

// maxRecord bounds what is read.
const maxRecord = 1 << 20

// Read reads a record. Its errors name the file.
func Read(path string) (*Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read device record: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	if err != nil {
		return nil, fmt.Errorf("read device record: %w", err)
	}
	r := &Record{}
	switch {
	case len(text) > maxRecord:
		err = errors.New("it is too long")
	default:
		if out, _ := readOutput(text); out.Version != "" {
			return nil, fmt.Errorf("%s is fio's own output: make the record with ds2 device", path)
		}
		err = json.Unmarshal(text, r)
	}
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return nil, fmt.Errorf("read device record %s: %w", path, err)
	}
	return r, nil
}

func (r *Record) check() error {
	if r.Kind != "device" || r.Format != Format {
		return fmt.Errorf("it is of kind %q and format %d, not a device record of format %d as ds2 device writes it",
			r.Kind, r.Format, Format)
	}
	if len(r.Reads) == 0 || len(r.Reads) > 100 {
		return fmt.Errorf("it has %d points of random reads", len(r.Reads))
	}
	for _, p := range append(slices.Clip(r.Reads), r.Log) {
		for _, v := range []float64{p.IOPS, p.Mean} {
			if !(v > 0) || v > 1e12 {
				return fmt.Errorf("its point of depth %d has %g I/Os a second of %g s", p.Depth, p.IOPS, p.Mean)
			}
		}
	}
	return nil
}

// nearly is the share of the most reads from which on a device counts as at its limit.
const nearly = 0.9

// Conclusion says in a sentence how the device's reads rise with the depth, and what that means.
func (r *Record) Conclusion() string {
	most := r.MaxReads()
	from := slices.IndexFunc(r.Reads, func(p Point) bool { return p.IOPS >= nearly*most })
	limit := r.Reads[from]
	switch {
	case len(r.Reads) == 1:
		return fmt.Sprintf("%.0f/s at depth %d, the only one that was measured", most, limit.Depth)
	case from == 0:
		return fmt.Sprintf("flat at %.0f/s from depth %d: an IOPS cap, or a device that serves one read at a time",
			most, limit.Depth)
	case from == len(r.Reads)-1:
		return fmt.Sprintf("still rising at depth %d with %.0f/s: its limit was not reached", limit.Depth, most)
	}
	return fmt.Sprintf("rises from %.0f/s at depth %d to %.0f/s, nearly reached at depth %d: "+
		"more users than that only wait", r.Reads[0].IOPS, r.Reads[0].Depth, most, limit.Depth)
}

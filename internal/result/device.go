package result

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ds2/internal/atomicfile"
	"ds2/internal/topology"
)

// DeviceFormat is the version of the record of a device.
const DeviceFormat = 1

// Device is the record of what a drive, array or volume can do by itself.
type Device struct {
	Format     int       `json:"format"`
	Kind       string    `json:"kind"` // "device"
	KitVersion string    `json:"kit_version"`
	Fio        string    `json:"fio"` // its version
	Start      time.Time `json:"start"`
	Path       string    `json:"path"` // the directory, or the device
	Bytes      int64     `json:"bytes"`
	StageTime  float64   `json:"stage_s"` // for which each point was measured

	// where it was measured, with the drives under Path; nil: not known
	Machine *topology.Machine `json:"machine,omitempty"`

	Preconditioning *DevicePreconditioning `json:"preconditioning,omitempty"`

	// of 1 MiB, while the file was filled
	SequentialWrite float64 `json:"sequential_write_bytes_per_second"`

	// By rising depth.
	Reads []DevicePoint `json:"random_reads"`
	Mixed []DevicePoint `json:"random_70_30"` // 70 % reads, 30 % writes
	// Over what is written already, one after the other, each synced: a write and a flush of the
	// device.
	Log DevicePoint `json:"log_writes"`
}

// DevicePoint is what the device did at a depth. Times are in seconds.
type DevicePoint struct {
	Depth  int     `json:"depth"`
	IOPS   float64 `json:"iops"` // reads and writes together
	Reads  float64 `json:"reads_per_second"`
	Writes float64 `json:"writes_per_second"`
	Mean   float64 `json:"mean_s"` // of log writes with the sync
	P50    float64 `json:"p50_s"`  // of reads, where there are any; of log writes of the sync alone
	P95    float64 `json:"p95_s"`
	P99    float64 `json:"p99_s"`
}

// DevicePreconditioning is how the device was brought to its steady state.
type DevicePreconditioning struct {
	Sequential []float64 `json:"sequential_bytes_per_second"` // of each pass
	Rounds     []float64 `json:"random_write_iops"`           // of each round
	Steady     bool      `json:"steady"`                      // the last five rounds were
}

// Elsewhere says why the record is not of the drives that hold the data of a machine; empty where
// it may be.
func (r *Device) Elsewhere(m *topology.Machine) string {
	if r.Machine == nil || m == nil || len(r.Machine.Drives) == 0 {
		return ""
	}
	data := m.DrivesOf(topology.Data)
	measured := slices.Sorted(slices.Values(r.Machine.DriveNames()))
	known := true     // each drive, by its serial number
	replaced := false // a drive, by another of its name
	for _, d := range r.Machine.Drives {
		there := false
		for _, other := range m.Drives {
			one := d.Serial == other.Serial && d.Bytes == other.Bytes
			there = there || one && d.Serial != ""
			replaced = replaced || d.Name == other.Name && !one
		}
		known = known && there
	}
	same := known && len(measured) == len(data) // also under other names, or on another machine
	// Virtual disks may have no serial numbers: on one machine their names tell them, unless one
	// was exchanged.
	if r.Machine.Hostname == m.Hostname && slices.Equal(measured, data) {
		same = !replaced
	}
	if same || len(data) == 0 {
		return ""
	}
	return fmt.Sprintf("it is of %s of %s (%s), and the data lie on %s of %s",
		strings.Join(measured, " and "), r.Machine.Hostname, r.Path,
		strings.Join(data, " and "), m.Hostname)
}

// MaxReads is the most random reads a second at any depth.
func (r *Device) MaxReads() float64 {
	most := 0.0
	for _, p := range r.Reads {
		most = max(most, p.IOPS)
	}
	return most
}

// ReadsAt is how many random reads a second the device does while one takes this many seconds on
// average: between two points by the logarithm of both. Faster than alone the device is not, and
// beyond the last depth it does no more than its most. With rising depth a saturated device gains
// latency only, and may lose reads: such points do not count.
func (r *Device) ReadsAt(latency float64) float64 {
	var c []DevicePoint
	byLatency := func(a, b DevicePoint) int { return cmp.Compare(a.Mean, b.Mean) }
	for _, p := range slices.SortedFunc(slices.Values(r.Reads), byLatency) {
		if len(c) == 0 || p.IOPS > c[len(c)-1].IOPS {
			c = append(c, p)
		}
	}
	// Depths double from point to point, and the device gains a share of its rate and latency with
	// each: between two of them a power law is nearer than a line.
	i := slices.IndexFunc(c, func(p DevicePoint) bool { return p.Mean > latency })
	switch i {
	case -1:
		return c[len(c)-1].IOPS
	case 0:
		return c[0].IOPS
	}
	low := c[i-1]
	high := c[i]
	return low.IOPS * math.Pow(high.IOPS/low.IOPS,
		math.Log(latency/low.Mean)/math.Log(high.Mean/low.Mean))
}

// Save writes the record.
func (r *Device) Save(path string) error {
	return atomicfile.WriteJSON(path, r)
}

// maxDevice bounds what is read.
const maxDevice = 1 << 20

// ReadDevice reads a record of a device. Its errors name the file.
func ReadDevice(path string) (*Device, error) {
	text, err := atomicfile.Read(path, maxDevice)
	if err != nil {
		return nil, fmt.Errorf("read device record: %w", err)
	}
	r := &Device{}
	if err = json.Unmarshal(text, r); err == nil {
		err = r.check()
	}
	if err != nil {
		return nil, fmt.Errorf("read device record %s: %w", path, err)
	}
	return r, nil
}

func (r *Device) check() error {
	if r.Kind != "device" || r.Format != DeviceFormat {
		return fmt.Errorf(
			"it is of kind %q and format %d, not a device record of format %d as ds2 device writes it",
			r.Kind, r.Format, DeviceFormat)
	}
	if len(r.Reads) == 0 || len(r.Reads) > 100 {
		return fmt.Errorf("it has %d points of random reads", len(r.Reads))
	}
	for _, p := range append(slices.Clip(r.Reads), r.Log) {
		if !(min(p.IOPS, p.Mean) > 0) || max(p.IOPS, p.Mean) > 1e12 {
			return fmt.Errorf("its point of depth %d has %g I/Os a second of %g s", p.Depth, p.IOPS,
				p.Mean)
		}
	}
	return nil
}

// nearly is the share of the most reads from which on a device counts as at its limit.
const nearly = 0.9

// bent is the share of the most reads below which the rate at the greatest depth has fallen.
const bent = 0.8

// Conclusion says in a sentence how the device's reads rise with the depth, and what that means.
func (r *Device) Conclusion() string {
	most := r.MaxReads()
	from := slices.IndexFunc(r.Reads, func(p DevicePoint) bool { return p.IOPS >= nearly*most })
	limit := r.Reads[from]
	deepest := r.Reads[len(r.Reads)-1]
	switch {
	case len(r.Reads) == 1:
		return fmt.Sprintf("%.0f/s at depth %d, the only one that was measured", most, limit.Depth)
	case deepest.IOPS < bent*most:
		return fmt.Sprintf("highest, %.0f/s, from depth %d, and falls to %.0f/s at depth %d: "+
			"more reads at once slow it down", most, limit.Depth, deepest.IOPS, deepest.Depth)
	case from == 0:
		return fmt.Sprintf(
			"flat at %.0f/s from depth %d: an IOPS cap, or a device that serves one read at a time",
			most, limit.Depth)
	case from == len(r.Reads)-1:
		return fmt.Sprintf("still rising at depth %d with %.0f/s: its limit was not reached",
			limit.Depth, most)
	}
	return fmt.Sprintf("rises from %.0f/s at depth %d to %.0f/s, nearly reached at depth %d: "+
		"more users than that only wait", r.Reads[0].IOPS, r.Reads[0].Depth, most, limit.Depth)
}

package sampling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"ds2/internal/topology"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
	"github.com/prometheus/procfs/sysfs"
)

// kernel shows the counters of this machine.
type kernel struct {
	proc      procfs.FS
	block     blockdevice.FS
	sys       sysfs.FS
	uncounted map[string]bool    // block devices whose requests it does not count
	speeds    map[string]float64 // of networks' links, in bytes a second

	// Of the block devices that are wanted, the files in which file systems count journals' writes;
	// none: all are.
	journals map[string][]string
}

// openKernel opens what the kernel shows, and reads what stays as it is: which devices it was told
// not to count (queue/iostats), and how fast the network's links are.
func openKernel(fs topology.FS) (k kernel, err error) {
	var errs [3]error
	k.proc, errs[0] = procfs.NewFS(fs.Proc)
	k.block, errs[1] = blockdevice.NewFS(fs.Proc, fs.Sys)
	k.sys, errs[2] = sysfs.NewFS(fs.Sys)
	k.uncounted = map[string]bool{}
	k.speeds = map[string]float64{}
	k.journals = map[string][]string{}
	for _, flag := range topology.Glob(fs.Sys, "block/*/queue/iostats") {
		device := filepath.Base(filepath.Dir(filepath.Dir(flag)))
		k.uncounted[device] = topology.ReadText(flag) == "0"
	}
	for _, link := range topology.Glob(fs.Sys, "class/net/*/speed") {
		megabits, err := strconv.ParseFloat(topology.ReadText(link), 64)
		if err == nil && megabits > 0 { // -1: the link is down
			k.speeds[filepath.Base(filepath.Dir(link))] = megabits * 1e6 / 8
		}
	}
	return k, cmp.Or(errs[:]...)
}

// MachineCounters reads this machine, and of its block devices those named as in /sys/block. How
// flushes stand among the writes of a device whose file systems' journals cannot be seen is given.
func MachineCounters(
	fs topology.FS,
	devices []string,
	flushes map[string]topology.Flushing,
) (Source, error) {
	if err := fs.CheckApart(devices); err != nil {
		return Source{}, err
	}
	k, err := openKernel(fs)
	if err != nil {
		return Source{}, fmt.Errorf("open the machine's counters: %w", err)
	}
	first, err := k.readAll()
	if err != nil {
		return Source{}, fmt.Errorf("read the machine's counters: %w", err)
	}
	judged := map[string]topology.Flushing{}
	for _, d := range devices {
		k.journals[d], judged[d] = fs.Flushing(d, flushes[d])
	}
	show := func(context.Context) (counted, error) { return k.readAll() }
	src, err := nodeExporter.newSource(first, devices, judged, show)
	if err != nil {
		return Source{}, fmt.Errorf("the kernel %w", err)
	}
	src.Name = "the machine's counters"
	return src, nil
}

// readAll is what the kernel shows now. Of what surrounds the CPUs, virtual machines show little.
func (k kernel) readAll() (counted, error) {
	c := counted{readings{}, readings{}, readings{}, k.speeds, map[string]float64{}}
	err := errors.Join(k.cpus(c), k.memory(c), k.disks(c), k.readNetwork(c))
	k.readConditions(c)
	return c, err
}

// cpus reads for each CPU how long it worked, and how long it idled while a request to a drive was
// in flight.
func (k kernel) cpus(c counted) error {
	stat, err := k.proc.Stat()
	for id, t := range stat.CPU {
		c.cpus[strconv.FormatInt(id, 10)] = []float64{busySeconds(t), t.Iowait}
		c.machine[CPUSteal] += t.Steal
	}
	return err
}

// memory reads what programs can have without swapping: most of the page cache is among it.
func (k kernel) memory(c counted) error {
	mem, err := k.proc.Meminfo()
	if err == nil && mem.MemAvailableBytes != nil {
		c.machine[MemoryAvailable] = float64(*mem.MemAvailableBytes)
	}
	return err
}

// flushFields are the fields of a line of /proc/diskstats where it has those of flushes.
const flushFields = 20

// disks reads the drives' counters in base units, where the kernel has sectors and milliseconds:
// those of the drives that are wanted, with the paths of NVMe that count for them.
func (k kernel) disks(c counted) error {
	stats, err := k.block.ProcDiskstats()
	const sector = procfs.SectorSize // whatever sectors the device itself has
	for _, d := range stats {
		journals, wanted := k.journals[d.DeviceName]
		if len(k.journals) > 0 && !wanted && !topology.NVMePath.MatchString(d.DeviceName) {
			continue
		}
		counts := []float64{
			float64(d.ReadIOs), float64(d.WriteIOs),
			float64(d.ReadSectors) * sector, float64(d.WriteSectors) * sector,
			float64(d.ReadTicks) / 1000, float64(d.WriteTicks) / 1000,
			float64(d.IOsTotalTicks) / 1000, float64(d.WeightedIOTicks) / 1000,
			float64(d.FlushRequestsCompleted), float64(d.TimeSpentFlushing) / 1000,
			topology.JournalWrites(journals),
		}
		if d.IoStatsCount < flushFields {
			counts[diskFlushes] = math.NaN()
			counts[diskFlushSeconds] = math.NaN()
		}
		if k.uncounted[d.DeviceName] {
			counts = unknown(len(counts))
		}
		c.drives[d.DeviceName] = counts
	}
	joinPaths(c.drives)
	return err
}

// readNetwork reads the bytes in and out of each interface.
func (k kernel) readNetwork(c counted) error {
	all, err := k.proc.NetDev()
	for name, line := range all {
		if name != "lo" { // which is no link
			c.links[name] = []float64{float64(line.RxBytes), float64(line.TxBytes)}
		}
	}
	return err
}

// readConditions are the CPUs' clock, how often heat throttled them, and the machine's
// temperatures.
func (k kernel) readConditions(c counted) {
	var sum, clocks float64
	all, _ := k.sys.SystemCpufreq()
	for _, cpu := range all {
		if kilohertz := cpu.ScalingCurrentFrequency; kilohertz != nil {
			sum += float64(*kilohertz) * 1000
			clocks++
		}
	}
	if clocks > 0 {
		c.machine[CPUFrequency] = sum / clocks
	}
	packages := map[string]uint64{} // each of a package's cores counts for all of it
	cpus, _ := k.sys.CPUs()
	for _, cpu := range cpus {
		t, err := cpu.ThermalThrottle()
		if err != nil {
			continue // offline, or no Intel
		}
		c.machine[CPUThrottles] += float64(t.CoreThrottleCount)
		if topology, err := cpu.Topology(); err == nil {
			id := topology.PhysicalPackageID
			packages[id] = max(packages[id], t.PackageThrottleCount)
		}
	}
	for _, count := range packages {
		c.machine[CPUThrottles] += float64(count)
	}
	var temperatures []float64
	zones, _ := k.sys.ClassThermalZoneStats()
	for _, z := range zones {
		if z.ReadErrors == nil {
			temperatures = append(temperatures, float64(z.Temp)/1000)
		}
	}
	if temperatures != nil {
		c.machine[Temperature] = slices.Max(temperatures)
	}
}

// VolumeCounters reads what is asked of volumes of this machine.
func VolumeCounters(fs topology.FS, volumes []topology.Drive) (Source, error) {
	k, err := openKernel(fs)
	if err != nil {
		return Source{}, err
	}
	var names []string
	for _, v := range volumes {
		k.journals[v.Name] = nil
		names = append(names, v.Name)
	}
	kinds := figureKinds["volume"]
	read := func(context.Context) (readings, error) { return k.readDrives(len(kinds)) }
	return itemSource("volumes", "volume", names, kinds, read), nil
}

// readDrives reads the first n figures of each drive and volume.
func (k kernel) readDrives(n int) (readings, error) {
	c := counted{drives: readings{}}
	err := k.disks(c)
	for name, counts := range c.drives {
		c.drives[name] = counts[:n]
	}
	return c.drives, err
}

// NodeCounter is a counter of a drive, by the name that a node_exporter has for it.
type NodeCounter struct{ Name, Help string }

// NodeCounters gives those of this machine's drives, and what reads them, by drive and in their
// order.
func NodeCounters(fs topology.FS) ([]NodeCounter, func() (readings, error), error) {
	k, err := openKernel(fs)
	var counters []NodeCounter
	for _, k := range figureKinds["drive"][:diskJournalWrites] {
		counters = append(counters, NodeCounter{nodeExporter.metric(k.figure).name, k.help})
	}
	return counters, func() (readings, error) { return k.readDrives(len(counters)) }, err
}

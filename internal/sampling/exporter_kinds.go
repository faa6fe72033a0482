package sampling

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"ds2/internal/topology"

	"github.com/prometheus/common/model"
)

// exporterKind is how one kind of exporter names what columns are made of.
type exporterKind struct {
	success    string   // of each collector, whether it works
	collectors []string // whose figures are read
	machine    func(exposition) topology.Machine

	room   string                         // free on each file system
	volume string                         // its label
	above  func(file, volume string) bool // whether the file lies there

	drives    itemMetrics // in the order of diskKinds
	diskKinds []kind
	links     itemMetrics // received, sent
	speeds    string      // of links
	memory    string

	probe string                 // the time of CPUs by mode, which every exporter of the kind shows
	cpu   string                 // its label
	busy  func(mode string) bool // at work
}

// nodeExporter shows what the kernel of this machine shows too.
var nodeExporter = &exporterKind{
	success:    "node_scrape_collector_success",
	collectors: []string{"cpu", "cpufreq", "diskstats", "meminfo", "netdev", "thermal_zone"},
	machine:    nodeMachine,
	room:       "node_filesystem_avail_bytes",
	volume:     "mountpoint",
	above:      topology.Within,
	drives: itemMetrics{
		"device",
		"node_disk_",
		[]string{
			"reads_completed",
			"writes_completed",
			"read_bytes",
			"written_bytes",
			"read_time_seconds",
			"write_time_seconds",
			"io_time_seconds",
			"io_time_weighted_seconds",
			"flush_requests",
			"flush_requests_time_seconds",
			"journal_writes", // which no exporter shows
		},
	},
	diskKinds: diskKinds,
	links:     itemMetrics{"device", "node_network_", []string{"receive_bytes", "transmit_bytes"}},
	speeds:    "node_network_speed_bytes",
	memory:    "node_memory_MemAvailable_bytes",
	probe:     "node_cpu_seconds_total",
	cpu:       "cpu",
	busy:      func(mode string) bool { return mode != "idle" },
}

// windowsExporter: Windows counts for each request how long it took, and the time in which a drive
// had none. The time for interrupts and deferred calls is part of the privileged time. The room is
// counted anew every quarter of an hour. Flushes it counts nowhere, not among the writes either.
var windowsExporter = &exporterKind{
	success:    "windows_exporter_collector_success",
	collectors: []string{"cpu", "memory", "net", "physical_disk"},
	machine:    windowsMachine,
	room:       "windows_logical_disk_free_bytes",
	volume:     "volume",
	above: func(file, volume string) bool {
		return len(file) >= len(volume) && strings.EqualFold(file[:len(volume)], volume)
	},
	drives: itemMetrics{"disk", "windows_physical_disk_", []string{
		"reads", "writes", "read_bytes", "write_bytes",
		"read_latency_seconds", "write_latency_seconds", "idle_seconds", "",
	}},
	diskKinds: windowsDiskKinds,
	links:     itemMetrics{"nic", "windows_net_", []string{"bytes_received", "bytes_sent"}},
	speeds:    "windows_net_current_bandwidth_bytes",
	memory:    "windows_memory_available_bytes",
	probe:     "windows_cpu_time_total",
	cpu:       "core",
	busy:      func(mode string) bool { return mode == "privileged" || mode == "user" },
}

// windowsDiskKinds: how busy a drive was is what its idle time leaves.
var windowsDiskKinds = slices.Replace(
	slices.Clone(diskKinds[:diskFlushes]),
	diskBusySeconds,
	diskBusySeconds+1,
	kind{
		"disk_idle_seconds_total", DiskBusy,
		func(seconds float64, was, now []float64) float64 {
			return min(max(1-rate(diskBusySeconds)(seconds, was, now), 0), 1)
		},
	},
)

// exporterKinds are those that are known.
var exporterKinds = []*exporterKind{nodeExporter, windowsExporter}

// counted is what a machine shows at a time.
type counted struct {
	drives, cpus, links readings           // in the order of diskKinds, cpuKinds and linkKinds
	speeds              map[string]float64 // of links, in bytes a second
	// by column, what is of all of it; what it does not tell is missing
	machine map[string]float64
}

// counted is what an exporter shows.
func (k *exporterKind) counted(x exposition) counted {
	const clock, heat = "node_cpu_scaling_frequency_hertz", "node_thermal_zone_temp"
	stolen := func(labels model.Metric) bool { return labels["mode"] == "steal" }
	c := counted{
		k.disks(x),
		k.cpus(x),
		k.links.read(x),
		x.valuesBy(k.speeds, k.links.label),
		map[string]float64{
			MemoryAvailable: x.sum(k.memory, nil),
			CPUSteal:        x.sum(k.probe, stolen),
			CPUFrequency:    x.sum(clock, nil) / float64(len(x[clock])),
			CPUThrottles: x.sum("node_cpu_core_throttles_total", nil) + x.sum(
				"node_cpu_package_throttles_total",
				nil,
			),
			Temperature: x.foldValues(heat, nil, math.Max),
		},
	}
	maps.DeleteFunc(c.machine, func(_ string, v float64) bool { return math.IsNaN(v) })
	return c
}

// newSource has the columns that the machine itself would give, of these drives or, without any,
// all. Its figures come from what show shows, first at first. How the flushes of drives stand among
// their writes is given.
func (k *exporterKind) newSource(
	first counted,
	devices []string,
	flushes map[string]topology.Flushing,
	show func(context.Context) (counted, error),
) (src Source, err error) {
	shown := inOrder(first.drives)
	for _, d := range devices {
		if !slices.Contains(shown, d) {
			return src, fmt.Errorf("shows no device %s, only %s", d, strings.Join(shown, ", "))
		}
	}
	if len(devices) == 0 {
		devices = topology.DrivesAmong(shown)
	}
	if len(
		k.diskKinds,
	) > diskFlushes { // flushes have counters, and the empty ones are among the writes
		src.writes = map[string]*writeCounter{}
		for _, d := range devices {
			f := flushes[d]
			if !f.Through && f.Unknown == "" && math.IsNaN(first.drives[d][diskFlushes]) {
				f.Unknown = "its kernel counts no flushes, as Linux does since 5.5, and so shows them as writes"
			}
			src.writes[d] = &writeCounter{Flushing: f}
		}
	}
	putDrives := src.items("device", devices, func(string) []kind { return k.diskKinds })

	cpus := inOrder(first.cpus)
	n := len(cpus)
	src.Columns = append(
		src.Columns,
		Column{CPUBusy, len(src.Figures), atMostOne(meanOfCPUs(0, n))},
	)
	if slices.ContainsFunc(
		cpus,
		func(cpu string) bool { return !math.IsNaN(first.cpus[cpu][1]) },
	) { // not of Windows
		src.Columns = append(src.Columns, Column{CPUIOWait, len(src.Figures), meanOfCPUs(1, n)})
	}
	putCPUs := src.items("cpu", cpus, func(string) []kind { return cpuKinds })

	memory := kind{
		"memory_available_bytes", MemoryAvailable, gauge(0),
	}
	places := map[string]int{MemoryAvailable: src.add("", "", "", memory)}
	ofLink := func(link string) []kind { return linkKinds(first.speeds[link]) }
	putLinks := src.items("interface", inOrder(first.links), ofLink)
	// What makes the same CPUs faster or slower from one run to the next, where it is shown.
	for _, k := range []kind{
		{"cpu_steal_seconds_total", CPUSteal, share(0, float64(n))},
		{"cpu_frequency_hertz", CPUFrequency, gauge(0)},
		{"cpu_throttles_total", CPUThrottles, nil},
		{"temperature_celsius", Temperature, gauge(0)},
	} {
		if _, told := first.machine[k.column]; told {
			places[k.column] = src.add("", "", "", k)
		}
	}
	src.Read = func(ctx context.Context, values []float64) error {
		now, err := show(ctx) // what could be read counts
		for drive, counter := range src.writes {
			if counts, shown := now.drives[drive]; shown {
				counter.countWrites(counts)
			}
		}
		putDrives(values, now.drives)
		putCPUs(values, now.cpus)
		putLinks(values, now.links)
		for column, v := range now.machine {
			if at, shown := places[column]; shown {
				values[at] = v
			}
		}
		return err
	}
	return src, nil
}

// itemMetrics are metrics of items that a label tells apart.
type itemMetrics struct {
	label, prefix string
	// in the order of figures, after the prefix and without _total; one that is lacking is empty
	names []string
}

// read gives the figures of each item, NaN where there is none.
func (m itemMetrics) read(x exposition) readings {
	all := readings{}
	for i, name := range m.names {
		for item, v := range x.valuesBy(m.prefix+name+"_total", m.label) {
			if all[item] == nil {
				all[item] = unknown(len(m.names))
			}
			all[item][i] = v
		}
	}
	delete(all, "lo")     // no link
	delete(all, "_Total") // no drive of Windows
	return all
}

// disks are the counters of the drives. A queue that is not told is the time that all requests
// took: as many of them were under way on average.
func (k *exporterKind) disks(x exposition) readings {
	all := k.drives.read(x)
	for _, counts := range all {
		if k.drives.names[diskQueueSeconds] == "" {
			counts[diskQueueSeconds] = counts[diskReadSeconds] + counts[diskWriteSeconds]
		}
	}
	joinPaths(all)
	return all
}

// joinPaths leaves in counts the drives only: one that counts nothing itself has what its paths
// count.
func joinPaths(counts readings) {
	paths := readings{}
	for name, path := range counts {
		parts := topology.NVMePath.FindStringSubmatch(name)
		if parts == nil {
			continue
		}
		delete(counts, name)
		drive := parts[1] + parts[2]
		sum, several := paths[drive]
		if !several {
			paths[drive] = path
			continue
		}
		for i, v := range path {
			sum[i] += v
		}
		sum[diskBusySeconds] = math.NaN() // they may be busy at once, or one after the other
	}
	for name, c := range counts {
		// The kernel reads every drive when it finds it, so one without any request is not counted.
		if topology.NVMeDrive.MatchString(name) && !(c[diskReads] > 0) && !(c[diskWrites] > 0) {
			counts[name] = unknown(len(c))
		}
	}
	for name, sum := range paths {
		if c, counted := counts[name]; !counted || math.IsNaN(c[diskReads]) {
			counts[name] = sum
		}
	}
}

// cpus are the times of each CPU, which an exporter shows by mode, in the order of cpuKinds.
func (k *exporterKind) cpus(x exposition) readings {
	all := readings{}
	for _, m := range x[k.probe] {
		id := string(m.Metric[model.LabelName(k.cpu)])
		mode := string(m.Metric["mode"])
		if all[id] == nil {
			all[id] = []float64{0, math.NaN()}
		}
		switch {
		case mode == "iowait":
			all[id][1] = float64(m.Value)
		case k.busy(mode):
			all[id][0] += float64(m.Value)
		}
	}
	return all
}

func nodeMachine(x exposition) topology.Machine {
	const firmware = "node_dmi_info"
	return topology.Machine{
		Hostname: x.firstLabel("node_uname_info", "nodename"),
		Vendor: topology.Cloud(
			x.firstLabel(firmware, "system_vendor"),
			x.firstLabel(firmware, "chassis_asset_tag"),
		),
		Product: x.firstLabel(firmware, "product_name"),
		System: cmp.Or(
			x.firstLabel("node_os_info", "pretty_name"),
			x.firstLabel("node_uname_info", "sysname"),
		),
		Kernel:      x.firstLabel("node_uname_info", "release"),
		Processor:   x.firstLabel("node_cpu_info", "model_name"),
		Processors:  len(x.valuesBy("node_cpu_seconds_total", "cpu")),
		MemoryBytes: bytesOf(x.sum("node_memory_MemTotal_bytes", nil)),
	}
}

// findRoom is the room on the file system of a file, which is that of the longest mount point, or
// volume, above it; NaN where that is not known.
func (k *exporterKind) findRoom(x exposition, file string) (free float64, mount string) {
	free = math.NaN()
	for point, bytes := range x.valuesBy(k.room, k.volume) {
		if k.above(file, point) && len(point) >= len(mount) {
			free = bytes
			mount = point
		}
	}
	return free, mount
}

// windowsMachine: older exporters have other names for the same.
func windowsMachine(x exposition) topology.Machine {
	const system = "windows_os_info"
	return topology.Machine{
		Hostname: cmp.Or(
			x.firstLabel("windows_os_hostname", "hostname"),
			x.firstLabel("windows_cs_hostname", "hostname"),
		),
		System:     x.firstLabel(system, "product"),
		Kernel:     cmp.Or(x.firstLabel(system, "version"), x.firstLabel(system, "build_number")),
		Processor:  x.firstLabel("windows_cpu_info", "name"),
		Processors: len(x.valuesBy("windows_cpu_time_total", "core")),
		MemoryBytes: cmp.Or(bytesOf(x.sum("windows_memory_physical_total_bytes", nil)),
			bytesOf(x.sum("windows_cs_physical_memory_bytes", nil)),
			bytesOf(x.sum("windows_os_visible_memory_bytes", nil))),
	}
}

// bytesOf is a number of bytes; 0 where it is not known.
func bytesOf(v float64) int64 {
	if math.IsNaN(v) {
		return 0
	}
	return int64(v)
}

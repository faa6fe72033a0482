package monitor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// exporterKind is how one kind of exporter names what columns are made of.
type exporterKind struct {
	probe      string   // a metric that every exporter of the kind shows
	success    string   // of each collector, whether it works
	collectors []string // that sources and machine read
	disks      func(exposition) map[string]diskCounts
	model      func(x exposition, drive string) string
	free       func(x exposition, dir string) (bytes float64, mount string) // NaN: not known
	machine    func(exposition) Machine

	diskKinds                         []perItem
	processor                         string                 // label of probe, which is the time of processors by mode
	busy                              func(mode string) bool // at work
	memory                            string
	nic, received, sent, speedOfLinks string // label and metrics of networks
}

// nodeExporter has the names that this machine's own counters have too.
var nodeExporter = &exporterKind{
	probe: "node_cpu_seconds_total", success: "node_scrape_collector_success",
	collectors: []string{"cpu", "cpufreq", "diskstats", "meminfo", "netdev", "thermal_zone"},
	disks:      nodeDisks.read,
	model: func(x exposition, drive string) (model string) {
		for _, m := range x["node_disk_info"] {
			if m.labels["device"] == drive {
				model = m.labels["model"]
			}
		}
		return model
	},
	free: nodeFree, machine: nodeMachine, diskKinds: diskKinds,
	processor: "cpu", busy: func(mode string) bool { return mode != "idle" },
	memory: "node_memory_MemAvailable_bytes",
	nic:    "device", received: "node_network_receive_bytes_total", sent: "node_network_transmit_bytes_total",
	speedOfLinks: "node_network_speed_bytes",
}

var windowsExporter = &exporterKind{
	probe: "windows_cpu_time_total", success: "windows_exporter_collector_success",
	collectors: []string{"cpu", "memory", "net", "physical_disk"},
	disks:      windowsDisks.read,
	model:      func(exposition, string) string { return "" },
	free:       windowsFree, machine: windowsMachine, diskKinds: windowsDiskKinds,
	// The time for interrupts and deferred calls is part of the privileged time.
	processor: "core", busy: func(mode string) bool { return mode == "privileged" || mode == "user" },
	memory: "windows_memory_available_bytes",
	nic:    "nic", received: "windows_net_bytes_received_total", sent: "windows_net_bytes_sent_total",
	speedOfLinks: "windows_net_current_bandwidth_bytes",
}

// exporterKinds are those that are known.
var exporterKinds = []*exporterKind{nodeExporter, windowsExporter}

// kindOf is the kind of exporter that shows something; nil: none that is known.
func kindOf(x exposition) *exporterKind {
	for _, k := range exporterKinds {
		if x[k.probe] != nil {
			return k
		}
	}
	return nil
}

// source has the columns that the machine itself would give, of these drives or, without any, all. Its figures come
// from what is shown now.
func (k *exporterKind) source(first exposition, devices []string, now func() exposition) (Source, error) {
	shown := inOrder(k.disks(first))
	for _, d := range devices {
		if !slices.Contains(shown, d) {
			return Source{}, fmt.Errorf("shows no device %s, only %s", d, strings.Join(shown, ", "))
		}
	}
	if len(devices) == 0 {
		devices = drivesAmong(shown)
	}
	var src Source
	parts := k.sources(first, devices, now)
	for _, part := range parts {
		start, end := len(src.Figures), len(src.Figures)+len(part.Figures)
		src.Figures = append(src.Figures, part.Figures...)
		for _, c := range part.Columns {
			src.Columns = append(src.Columns, Column{c.Name, func(seconds float64, was, now []float64) float64 {
				return c.derive(seconds, was[start:end], now[start:end])
			}})
		}
	}
	src.Read = func(ctx context.Context, values []float64) error {
		for _, part := range parts {
			if err := part.Read(ctx, values[:len(part.Figures)]); err != nil {
				return err
			}
			values = values[len(part.Figures):]
		}
		return nil
	}
	return src, nil
}

// diskMetrics are the metrics of one kind of exporter in the order of diskKinds; one that it lacks is empty.
type diskMetrics struct {
	label string
	names [8]string
	skip  string // a device that is none
}

var (
	nodeDisks = diskMetrics{label: "device", names: [8]string{
		"node_disk_reads_completed_total", "node_disk_writes_completed_total", "node_disk_read_bytes_total", "node_disk_written_bytes_total",
		"node_disk_read_time_seconds_total", "node_disk_write_time_seconds_total", "node_disk_io_time_seconds_total", "node_disk_io_time_weighted_seconds_total",
	}}
	// Windows counts for each request how long it took, and the time in which a drive had none.
	windowsDisks = diskMetrics{label: "disk", skip: "_Total", names: [8]string{
		"windows_physical_disk_reads_total", "windows_physical_disk_writes_total", "windows_physical_disk_read_bytes_total", "windows_physical_disk_write_bytes_total",
		"windows_physical_disk_read_latency_seconds_total", "windows_physical_disk_write_latency_seconds_total", "windows_physical_disk_idle_seconds_total", "",
	}}
)

// windowsDiskKinds: how busy a drive was is what its idle time leaves.
var windowsDiskKinds = slices.Replace(slices.Clone(diskKinds), diskBusySeconds, diskBusySeconds+1,
	perItem{"disk_idle_seconds_total", "Time during which the device had no request.", DiskBusy,
		func(at int, _ string) derivation {
			return func(seconds float64, was, now []float64) float64 {
				return min(max(1-rate(at+diskBusySeconds)(seconds, was, now), 0), 1)
			}
		}})

// read gives the counters of each device, NaN where there is none. A queue that is not told is the time that all
// requests took: so many of them were under way on average.
func (d diskMetrics) read(x exposition) map[string]diskCounts {
	all := map[string]diskCounts{}
	for i, name := range d.names {
		for device, v := range x.by(name, d.label) {
			if device == d.skip {
				continue
			}
			counts, known := all[device]
			if !known {
				counts = unknownCounts
			}
			if counts[i] = v; d.names[diskQueueSeconds] == "" {
				counts[diskQueueSeconds] = counts[diskReadSeconds] + counts[diskWriteSeconds]
			}
			all[device] = counts
		}
	}
	joinPaths(all)
	return all
}

// drivesAmong leaves out of block devices what is no drive of its own: those made of others or of memory, and
// partitions.
func drivesAmong(devices []string) []string {
	return slices.DeleteFunc(slices.Clone(devices), func(name string) bool {
		return slices.ContainsFunc(virtual, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) ||
			slices.ContainsFunc(devices, func(whole string) bool { return partition(name, whole) })
	})
}

// virtual are Linux's devices that hold no data of their own, or hold it in memory: what lies on others counts there.
var virtual = []string{"loop", "ram", "zram", "dm-", "md", "bcache", "drbd", "zd", "sr", "fd"}

var (
	partitionOfLetter = regexp.MustCompile(`^\d+$`)  // sda1
	partitionOfDigit  = regexp.MustCompile(`^p\d+$`) // nvme0n1p1, beside which nvme0n10 is a drive
)

func partition(name, whole string) bool {
	rest, ok := strings.CutPrefix(name, whole)
	if !ok || whole == "" {
		return false
	}
	if last := whole[len(whole)-1]; last >= '0' && last <= '9' {
		return partitionOfDigit.MatchString(rest)
	}
	return partitionOfLetter.MatchString(rest)
}

// processors gives the times of each processor, busy and waiting, which an exporter shows by mode; those of the modes
// named count as busy.
func processors(x exposition, name, label string, busy func(mode string) bool) map[string][2]float64 {
	all := map[string][2]float64{}
	for _, m := range x[name] {
		t := all[m.labels[label]]
		switch mode := m.labels["mode"]; {
		case mode == "iowait":
			t[1] += m.value
		case busy(mode):
			t[0] += m.value
		}
		all[m.labels[label]] = t
	}
	return all
}

// traffic is what each interface received and sent, by the names of the two and of their label.
func traffic(x exposition, received, sent, label string) map[string][2]float64 {
	all, out := map[string][2]float64{}, x.by(sent, label)
	for name, bytes := range x.by(received, label) {
		if name != "lo" {
			all[name] = [2]float64{bytes, out[name]}
		}
	}
	return all
}

var memoryFigure = Figure{Name: "memory_available_bytes", Help: "Memory that programs can have without swapping."}

// sources are what can be read of the machine, as its first exposition shows; those that follow come from now.
func (k *exporterKind) sources(first exposition, devices []string, now func() exposition) []Source {
	cores := func(x exposition) map[string][2]float64 { return processors(x, k.probe, k.processor, k.busy) }
	traffics := func(x exposition) map[string][2]float64 { return traffic(x, k.received, k.sent, k.nic) }
	mode := func(x exposition, mode string) float64 {
		return x.sum(k.probe, func(labels map[string]string) bool { return labels["mode"] == mode })
	}
	processor := cpu(inOrder(cores(first)), func() map[string][2]float64 { return cores(now()) })
	if math.IsNaN(mode(first, "iowait")) { // Windows knows none
		processor.Columns = slices.DeleteFunc(processor.Columns, func(c Column) bool { return c.Name == CPUIOWait })
	}
	sources := []Source{
		disks(devices, k.diskKinds, func() map[string]diskCounts { return k.disks(now()) }),
		processor,
		one("memory", memoryFigure, MemoryAvailable, gauge(0), func(context.Context) (float64, error) { return now().sum(k.memory, nil), nil }),
		network(inOrder(traffics(first)), first.by(k.speedOfLinks, k.nic), func() map[string][2]float64 { return traffics(now()) }),
	}
	n := float64(len(cores(first)))
	for _, s := range []struct { // what makes the same processors faster or slower from one run to the next, where it is shown
		figure Figure
		column string
		derive derivation
		read   func(exposition) float64
	}{
		{Figure{Name: "cpu_steal_seconds_total", Help: "Time that the hypervisor took from the processors, summed over all."}, CPUSteal,
			func(seconds float64, was, now []float64) float64 { return rate(0)(seconds, was, now) / n },
			func(x exposition) float64 { return mode(x, "steal") }},
		{Figure{Name: "cpu_frequency_hertz", Help: "Clock of the processors, the mean of all."}, CPUFrequency, gauge(0),
			func(x exposition) float64 {
				return x.sum("node_cpu_scaling_frequency_hertz", nil) / float64(len(x["node_cpu_scaling_frequency_hertz"]))
			}},
		{Figure{Name: "cpu_throttles_total", Help: "Times that heat throttled a core or a package."}, CPUThrottles, rate(0),
			func(x exposition) float64 {
				return x.sum("node_cpu_core_throttles_total", nil) + x.sum("node_cpu_package_throttles_total", nil)
			}},
		{Figure{Name: "temperature_celsius", Help: "The highest temperature of the machine's thermal zones."}, Temperature, gauge(0),
			func(x exposition) float64 { return x.highest("node_thermal_zone_temp") }},
	} {
		if !math.IsNaN(s.read(first)) {
			read := func(context.Context) (float64, error) { return s.read(now()), nil }
			sources = append(sources, one(s.column, s.figure, s.column, s.derive, read))
		}
	}
	return sources
}

func nodeMachine(x exposition) Machine {
	uname, system := x.labels("node_uname_info"), x.labels("node_os_info")
	return Machine{
		Hostname: uname["nodename"], Kernel: uname["release"], System: cmp.Or(system["pretty_name"], uname["sysname"]),
		Processors:  len(x.by("node_cpu_seconds_total", "cpu")),
		MemoryBytes: bytesOf(x.sum("node_memory_MemTotal_bytes", nil)),
		Processor:   x.labels("node_cpu_info")["model_name"],
	}
}

// free is the room on the file system of a file, which is that of the longest mount point, or volume, above it.
func free(x exposition, name, label string, above func(mount string) bool) (free float64, mount string) {
	free = math.NaN()
	for point, bytes := range x.by(name, label) {
		if above(point) && len(point) >= len(mount) {
			free, mount = bytes, point
		}
	}
	return free, mount
}

func nodeFree(x exposition, dir string) (float64, string) {
	return free(x, "node_filesystem_avail_bytes", "mountpoint", func(mount string) bool { return within(dir, mount) })
}

// windowsFree: Windows counts anew every quarter of an hour.
func windowsFree(x exposition, file string) (float64, string) {
	return free(x, "windows_logical_disk_free_bytes", "volume", func(volume string) bool {
		return len(file) >= len(volume) && strings.EqualFold(file[:len(volume)], volume)
	})
}

func windowsMachine(x exposition) Machine {
	system := x.labels("windows_os_info")
	return Machine{
		Hostname: cmp.Or(x.labels("windows_os_hostname")["hostname"], x.labels("windows_cs_hostname")["hostname"]),
		System:   system["product"], Kernel: cmp.Or(system["version"], system["build_number"]),
		Processors: len(x.by("windows_cpu_time_total", "core")),
		MemoryBytes: bytesOf(firstKnown(x.sum("windows_memory_physical_total_bytes", nil),
			x.sum("windows_cs_physical_memory_bytes", nil), x.sum("windows_os_visible_memory_bytes", nil))),
		Processor: x.labels("windows_cpu_info")["name"],
	}
}

// firstKnown is the first that is a number; older exporters have other names for the same.
func firstKnown(values ...float64) float64 {
	for _, v := range values {
		if !math.IsNaN(v) {
			return v
		}
	}
	return math.NaN()
}

// bytesOf is a number of bytes; 0 where it is not known.
func bytesOf(v float64) int64 {
	if math.IsNaN(v) {
		return 0
	}
	return int64(v)
}

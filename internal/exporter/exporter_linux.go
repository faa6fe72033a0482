// Package exporter shows Prometheus, and a ds2 on another machine, what this machine counts of the
// drives below some directories, in the names of node_exporter. What ds2 makes of it is for package
// sampling to say, which reads it as it reads a node_exporter.
package exporter

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/procfs"

	"ds2/internal/diskspace"
	"ds2/internal/process"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// Collector shows the machine, the drives below directories and the control group of the server
// whose data directory is among these.
type Collector struct {
	machine     topology.Machine
	directories map[string]topology.FileSystem
	proc        procfs.FS
	drives      []sampling.NodeCounter
	read        func() (map[string][]float64, error)
}

// New finds the drives below directories by the mounts of this process.
func New(directories []string) (*Collector, error) {
	c := &Collector{directories: map[string]topology.FileSystem{}}
	var drives []string
	for _, dir := range directories {
		found, err := topology.Root.Find(dir)
		if err != nil {
			return nil, fmt.Errorf("find the drives under %s: %w", dir, err)
		}
		c.directories[dir] = found
		drives = append(drives, found.Devices...)
	}
	slices.Sort(drives)
	c.machine = topology.Root.Machine(slices.Compact(drives))
	var err error
	if c.proc, err = procfs.NewFS(topology.Root.Proc); err != nil {
		return nil, err
	}
	c.drives, c.read, err = sampling.NodeCounters(topology.Root)
	return c, err
}

// Describe says nothing: what a machine shows is known when it is asked.
func (c *Collector) Describe(chan<- *prometheus.Desc) {}

// Collect reads the machine once. What cannot be read is left out.
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	m := shower(metrics)
	c.showMachineInfo(m)
	c.showDrives(m)
	c.showMachine(m)
	for dir := range c.directories {
		showServer(m, dir)
	}
}

// shower makes metrics of a name, which ends in _total where it is a counter's, and its labels, in
// pairs.
type shower chan<- prometheus.Metric

// show sends a metric. The labels are constant ones, as each scrape makes all metrics anew.
func (m shower) show(name, help string, v float64, pairs ...string) {
	kind := prometheus.GaugeValue
	if strings.HasSuffix(name, "_total") {
		kind = prometheus.CounterValue
	}
	labels := prometheus.Labels{}
	for pair := range slices.Chunk(pairs, 2) {
		labels[pair[0]] = pair[1]
	}
	m <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, labels), kind, v)
}

// showMachineInfo shows what does not change: the machine, its drives and where the directories
// lie.
func (c *Collector) showMachineInfo(m shower) {
	m.show("node_uname_info", "The machine and its kernel.", 1,
		"nodename", c.machine.Hostname, "release", c.machine.Kernel, "sysname", "Linux")
	m.show("node_dmi_info", "What the machine's firmware says of it.", 1,
		"system_vendor", c.machine.Vendor, "product_name", c.machine.Product)
	m.show("node_os_info", "The operating system.", 1, "pretty_name", c.machine.System)
	m.show("node_cpu_info", "The model of the CPUs.", 1, "model_name", c.machine.Processor)
	for _, d := range c.machine.Drives {
		m.show("node_disk_info", "The drive.", 1,
			"device", d.Name, "model", d.Model, "serial", d.Serial)
	}
	mounts := map[string]bool{}
	for dir, found := range c.directories {
		for _, device := range found.Devices {
			m.show(sampling.DirectoryInfo, "A drive that the directory lies on.", 1,
				"directory", dir, "device", device)
		}
		free, ok := diskspace.Free(dir)
		if ok && !mounts[found.MountPoint] {
			m.show("node_filesystem_avail_bytes", "Free space of the file system.", float64(free),
				"mountpoint", found.MountPoint, "fstype", found.Type)
		}
		mounts[found.MountPoint] = true
	}
}

// showDrives shows what the kernel counts of the drives; of one that is gone, nothing.
func (c *Collector) showDrives(m shower) {
	counted, _ := c.read()
	for _, d := range c.machine.Drives {
		for i, v := range counted[d.Name] {
			m.show(c.drives[i].Name, c.drives[i].Help, v, "device", d.Name)
		}
	}
}

// showMachine shows CPUs, memory and network as a node_exporter does.
func (c *Collector) showMachine(m shower) {
	if stat, err := c.proc.Stat(); err == nil {
		for cpu, t := range stat.CPU {
			for mode, seconds := range map[string]float64{
				"user": t.User, "nice": t.Nice, "system": t.System, "idle": t.Idle,
				"iowait": t.Iowait, "irq": t.IRQ, "softirq": t.SoftIRQ, "steal": t.Steal,
			} {
				m.show("node_cpu_seconds_total", "Time that the CPU spent in each mode.", seconds,
					"cpu", strconv.FormatInt(cpu, 10), "mode", mode)
			}
		}
	}
	if mem, err := c.proc.Meminfo(); err == nil && mem.MemAvailableBytes != nil {
		m.show("node_memory_MemAvailable_bytes", "Memory that programs can have without swapping.",
			float64(*mem.MemAvailableBytes))
		m.show("node_memory_MemTotal_bytes", "Memory of the machine.", float64(*mem.MemTotalBytes))
	}
	links, _ := c.proc.NetDev()
	for link, counts := range links {
		m.show("node_network_receive_bytes_total", "Bytes that the interface received.",
			float64(counts.RxBytes), "device", link)
		m.show("node_network_transmit_bytes_total", "Bytes that the interface sent.",
			float64(counts.TxBytes), "device", link)
	}
}

// showServer shows how the control groups of a PostgreSQL server hold it back whose data directory
// is dir, where its process can be seen.
func showServer(m shower, dir string) {
	// Its first lines are the process, as its own namespace numbers it, the data directory, and the
	// second of 1970 in which the server started.
	text, err := os.ReadFile(filepath.Join(dir, "postmaster.pid"))
	lines := strings.Split(string(text), "\n")
	if err != nil || len(lines) < 3 {
		return
	}
	inside, _ := strconv.Atoi(lines[0])
	started, _ := strconv.ParseInt(lines[2], 10, 64)
	age := time.Since(time.Unix(started, 0))
	_, pid, err := process.Find(topology.Root.Proc, inside, "postgres", age)
	if err != nil {
		return
	}
	limits, err := topology.Root.Limits(pid)
	if err != nil {
		return
	}
	if limits.MemoryBytes > 0 {
		m.show(sampling.ServerMemoryLimit, "Memory that the server may use.",
			float64(limits.MemoryBytes), "directory", dir)
	}
	if limits.Processors > 0 {
		m.show(sampling.ServerCPULimit, "CPUs that the server may use.",
			limits.Processors, "directory", dir)
	}
}

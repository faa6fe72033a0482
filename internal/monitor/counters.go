package monitor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
)

// FS is where a Linux kernel shows its counters.
type FS struct{ Proc, Sys string }

// Root is this machine's own.
var Root = FS{Proc: "/proc", Sys: "/sys"}

// sectorBytes is the unit of /proc/diskstats, whatever sectors the device itself has.
const sectorBytes = 512

// diskFigures are the raw values of one device, in the order Disks reads them.
var diskFigures = []struct{ name, help string }{
	{"disk_reads_total", "Reads that the device completed."},
	{"disk_writes_total", "Writes that the device completed."},
	{"disk_read_bytes_total", "Bytes read from the device."},
	{"disk_written_bytes_total", "Bytes written to the device."},
	{"disk_read_seconds_total", "Sum of the times that reads took."},
	{"disk_write_seconds_total", "Sum of the times that writes took."},
	{"disk_busy_seconds_total", "Time during which the device had at least one request."},
	{"disk_queue_seconds_total", "Sum of the times that requests waited and were served; grows by the queue's length each second."},
}

// Disks reads block devices by the names in /sys/block: requests and bytes each way, mean latency, queue length, share of busy time.
func (fs FS) Disks(devices []string) (Source, error) {
	bfs, err := blockdevice.NewFS(fs.Proc, fs.Sys)
	if err != nil {
		return Source{}, fmt.Errorf("open block device counters: %w", err)
	}
	src := Source{Name: "block devices"}
	for n, device := range devices {
		if _, _, err := bfs.SysBlockDeviceStat(device); err != nil {
			return Source{}, fmt.Errorf("read counters of block device %s: %w", device, err)
		}
		for _, f := range diskFigures {
			src.Figures = append(src.Figures, Figure{f.name, f.help, "device", device})
		}
		at := n * len(diskFigures)
		src.Columns = append(src.Columns,
			Column{ItemColumn(DiskReads, device), rate(at)},
			Column{ItemColumn(DiskWrites, device), rate(at + 1)},
			Column{ItemColumn(DiskReadBytes, device), rate(at + 2)},
			Column{ItemColumn(DiskWrittenBytes, device), rate(at + 3)},
			Column{ItemColumn(DiskReadTime, device), ratio(at+4, at)},
			Column{ItemColumn(DiskWriteTime, device), ratio(at+5, at+1)},
			Column{ItemColumn(DiskBusy, device), rate(at + 6)},
			Column{ItemColumn(DiskQueue, device), rate(at + 7)},
		)
	}
	src.Read = func(_ context.Context, values []float64) error {
		stats, err := bfs.ProcDiskstats()
		if err != nil {
			return err
		}
		for _, d := range stats {
			n := slices.Index(devices, d.DeviceName)
			if n < 0 {
				continue
			}
			copy(values[n*len(diskFigures):], []float64{
				float64(d.ReadIOs), float64(d.WriteIOs),
				float64(d.ReadSectors) * sectorBytes, float64(d.WriteSectors) * sectorBytes,
				float64(d.ReadTicks) / 1000, float64(d.WriteTicks) / 1000,
				float64(d.IOsTotalTicks) / 1000, float64(d.WeightedIOTicks) / 1000,
			})
		}
		return nil
	}
	return src, nil
}

// CPU reads the processors: busy and waiting for disks over all of them, and busy for each.
func (fs FS) CPU() (Source, error) {
	pfs, err := procfs.NewFS(fs.Proc)
	if err != nil {
		return Source{}, fmt.Errorf("open processor counters: %w", err)
	}
	stat, err := pfs.Stat()
	if err != nil {
		return Source{}, fmt.Errorf("read processor counters: %w", err)
	}
	var cpus []int64
	for id := range stat.CPU {
		cpus = append(cpus, id)
	}
	slices.Sort(cpus)

	src := Source{Name: "processors"}
	overall := func(i int) derivation {
		return func(seconds float64, was, now []float64) float64 {
			sum := 0.0
			for n := range cpus {
				sum += rate(2*n+i)(seconds, was, now)
			}
			return min(sum/float64(len(cpus)), 1)
		}
	}
	src.Columns = []Column{{CPUBusy, overall(0)}, {CPUIOWait, overall(1)}}
	for n, id := range cpus {
		cpu := strconv.FormatInt(id, 10)
		src.Figures = append(src.Figures,
			Figure{"cpu_busy_seconds_total", "Time that the processor worked, or that its hypervisor took from it.", "cpu", cpu},
			Figure{"cpu_iowait_seconds_total", "Time that the processor was idle while a request to a disk was under way.", "cpu", cpu})
		src.Columns = append(src.Columns, Column{ItemColumn(CPUBusy, cpu),
			func(seconds float64, was, now []float64) float64 { return min(rate(2*n)(seconds, was, now), 1) }})
	}
	src.Read = func(_ context.Context, values []float64) error {
		stat, err := pfs.Stat()
		if err != nil {
			return err
		}
		for n, id := range cpus {
			c, ok := stat.CPU[id]
			if !ok {
				continue // taken offline
			}
			values[2*n] = c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal
			values[2*n+1] = c.Iowait
		}
		return nil
	}
	return src, nil
}

// Memory reads how much memory is available to programs without swapping.
func (fs FS) Memory() (Source, error) {
	pfs, err := procfs.NewFS(fs.Proc)
	if err != nil {
		return Source{}, fmt.Errorf("open memory counters: %w", err)
	}
	return Source{
		Name:    "memory",
		Figures: []Figure{{Name: "memory_available_bytes", Help: "Memory that programs can have without swapping."}},
		Columns: []Column{{MemoryAvailable, gauge(0)}},
		Read: func(_ context.Context, values []float64) error {
			mem, err := pfs.Meminfo()
			if err != nil {
				return err
			}
			if mem.MemAvailableBytes != nil {
				values[0] = float64(*mem.MemAvailableBytes)
			}
			return nil
		},
	}, nil
}

// Client reads the machine that the orders come from: how busy its processors are, and what ds2 itself takes of it. What
// ds2 takes must not grow in a run of days.
func (fs FS) Client() (Source, error) {
	cpu, err := fs.CPU()
	if err != nil {
		return Source{}, err
	}
	pfs, err := procfs.NewFS(fs.Proc)
	if err != nil {
		return Source{}, fmt.Errorf("open process counters: %w", err)
	}
	self, err := pfs.Proc(os.Getpid())
	if err != nil {
		return Source{}, fmt.Errorf("open process counters: %w", err)
	}
	processors := float64(len(cpu.Figures) / 2)
	raw := make([]float64, len(cpu.Figures))
	return Source{
		Name: "client",
		Figures: []Figure{
			{Name: "client_busy_seconds_total", Help: "Time that the processors of the machine that ds2 runs on worked, summed over all."},
			{Name: "client_own_seconds_total", Help: "Processor time that ds2 itself took."},
			{Name: "client_resident_bytes", Help: "Memory that ds2 itself takes."},
			{Name: "client_open_files", Help: "Files and connections that ds2 itself has open."},
			{Name: "client_goroutines", Help: "Goroutines of ds2 itself."},
		},
		Columns: []Column{
			{ClientBusy, func(seconds float64, was, now []float64) float64 {
				return min(rate(0)(seconds, was, now)/processors, 1)
			}},
			{ClientOwn, rate(1)},
			{ClientUsed, func(seconds float64, was, now []float64) float64 {
				return rate(1)(seconds, was, now) / float64(runtime.GOMAXPROCS(0)) // which heeds a container's limit
			}},
			{ClientMemory, gauge(2)},
			{ClientFiles, gauge(3)},
			{ClientGoroutines, gauge(4)},
		},
		Read: func(ctx context.Context, values []float64) error {
			if err := cpu.Read(ctx, raw); err != nil {
				return err
			}
			values[0] = 0
			for i := 0; i < len(raw); i += 2 {
				values[0] += raw[i]
			}
			stat, err := self.Stat()
			if err != nil {
				return err
			}
			files, err := self.FileDescriptorsLen()
			if err != nil {
				return err
			}
			values[1], values[2] = stat.CPUTime(), float64(stat.ResidentMemory())
			values[3], values[4] = float64(files), float64(runtime.NumGoroutine())
			return nil
		},
	}, nil
}

// Network reads the bytes in and out of every interface but the loopback, and how much of its link's speed they use
// where the kernel knows that.
func (fs FS) Network() (Source, error) {
	pfs, err := procfs.NewFS(fs.Proc)
	if err != nil {
		return Source{}, fmt.Errorf("open network counters: %w", err)
	}
	dev, err := pfs.NetDev()
	if err != nil {
		return Source{}, fmt.Errorf("read network counters: %w", err)
	}
	var names []string
	for name := range dev {
		if name != "lo" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	src := Source{Name: "network"}
	for n, name := range names {
		received, sent := rate(2*n), rate(2*n+1)
		src.Figures = append(src.Figures,
			Figure{"network_received_bytes_total", "Bytes that the interface received.", "interface", name},
			Figure{"network_sent_bytes_total", "Bytes that the interface sent.", "interface", name})
		src.Columns = append(src.Columns,
			Column{ItemColumn(NetworkReceived, name), received},
			Column{ItemColumn(NetworkSent, name), sent})
		megabits, err := strconv.ParseFloat(line(filepath.Join(fs.Sys, "class/net", name, "speed")), 64)
		if err == nil && megabits > 0 { // -1: the link is down
			src.Columns = append(src.Columns, Column{ItemColumn(NetworkUsed, name),
				func(seconds float64, was, now []float64) float64 {
					return max(received(seconds, was, now), sent(seconds, was, now)) * 8 / (megabits * 1e6)
				}})
		}
	}
	src.Read = func(_ context.Context, values []float64) error {
		dev, err := pfs.NetDev()
		if err != nil {
			return err
		}
		for n, name := range names {
			line, ok := dev[name]
			if !ok {
				continue // taken down
			}
			values[2*n], values[2*n+1] = float64(line.RxBytes), float64(line.TxBytes)
		}
		return nil
	}
	return src, nil
}

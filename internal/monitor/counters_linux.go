package monitor

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
)

// sectorBytes is the unit of /proc/diskstats, whatever sectors the device itself has.
const sectorBytes = 512

// Disks reads block devices by the names in /sys/block.
func (fs FS) Disks(devices []string) (Source, error) {
	bfs, err := blockdevice.NewFS(fs.Proc, fs.Sys)
	if err != nil {
		return Source{}, fmt.Errorf("open block device counters: %w", err)
	}
	for _, device := range devices {
		if _, _, err := bfs.SysBlockDeviceStat(device); err != nil {
			return Source{}, fmt.Errorf("read counters of block device %s: %w", device, err)
		}
	}
	uncounted := map[string]bool{}
	flags, err := filepath.Glob(filepath.Join(fs.Sys, "block/*/queue/iostats"))
	if err != nil {
		return Source{}, fmt.Errorf("list block devices: %w", err)
	}
	for _, flag := range flags {
		uncounted[filepath.Base(filepath.Dir(filepath.Dir(flag)))] = line(flag) == "0"
	}
	return disks(devices, func() (map[string]diskCounts, error) {
		stats, err := bfs.ProcDiskstats()
		if err != nil {
			return nil, err
		}
		counts := make(map[string]diskCounts, len(stats))
		for _, d := range stats {
			if uncounted[d.DeviceName] {
				continue
			}
			counts[d.DeviceName] = diskCounts{
				float64(d.ReadIOs), float64(d.WriteIOs),
				float64(d.ReadSectors) * sectorBytes, float64(d.WriteSectors) * sectorBytes,
				float64(d.ReadTicks) / 1000, float64(d.WriteTicks) / 1000,
				float64(d.IOsTotalTicks) / 1000, float64(d.WeightedIOTicks) / 1000,
			}
		}
		joinPaths(counts)
		return counts, nil
	}), nil
}

// CPU reads the processors.
func (fs FS) CPU() (Source, error) {
	pfs, err := procfs.NewFS(fs.Proc)
	if err != nil {
		return Source{}, fmt.Errorf("open processor counters: %w", err)
	}
	read := func() (map[string]cpuTimes, error) {
		stat, err := pfs.Stat()
		times := make(map[string]cpuTimes, len(stat.CPU))
		for id, c := range stat.CPU {
			times[strconv.FormatInt(id, 10)] = cpuTimes{c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal, c.Iowait}
		}
		return times, err
	}
	first, err := read()
	if err != nil {
		return Source{}, fmt.Errorf("read processor counters: %w", err)
	}
	return cpu(inOrder(first), read), nil
}

// Memory reads the memory.
func (fs FS) Memory() (Source, error) {
	pfs, err := procfs.NewFS(fs.Proc)
	if err != nil {
		return Source{}, fmt.Errorf("open memory counters: %w", err)
	}
	return memory(func() (float64, error) {
		mem, err := pfs.Meminfo()
		if err != nil || mem.MemAvailableBytes == nil {
			return math.NaN(), err
		}
		return float64(*mem.MemAvailableBytes), nil
	}), nil
}

// Client reads the machine that the orders come from, and what ds2 itself takes of it.
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
	return client(cpu, func() (ownUse, error) {
		stat, err := self.Stat()
		if err != nil {
			return ownUse{}, err
		}
		files, err := self.FileDescriptorsLen()
		return ownUse{stat.CPUTime(), float64(stat.ResidentMemory()), float64(files)}, err
	}), nil
}

// Network reads every interface but the loopback.
func (fs FS) Network() (Source, error) {
	pfs, err := procfs.NewFS(fs.Proc)
	if err != nil {
		return Source{}, fmt.Errorf("open network counters: %w", err)
	}
	read := func() (map[string]traffic, error) {
		dev, err := pfs.NetDev()
		all := make(map[string]traffic, len(dev))
		for name, line := range dev {
			if name != "lo" {
				all[name] = traffic{float64(line.RxBytes), float64(line.TxBytes)}
			}
		}
		return all, err
	}
	first, err := read()
	if err != nil {
		return Source{}, fmt.Errorf("read network counters: %w", err)
	}
	speed := func(name string) (bits float64, ok bool) {
		megabits, err := strconv.ParseFloat(line(filepath.Join(fs.Sys, "class/net", name, "speed")), 64)
		return megabits * 1e6, err == nil && megabits > 0 // -1: the link is down
	}
	return network(inOrder(first), speed, read), nil
}

//go:build !linux

package monitor

import (
	"context"
	"fmt"
	"math"
	"net"
	"os"

	pscpu "github.com/shirou/gopsutil/v4/cpu"
	psdisk "github.com/shirou/gopsutil/v4/disk"
	psmem "github.com/shirou/gopsutil/v4/mem"
	psnet "github.com/shirou/gopsutil/v4/net"
	"github.com/shirou/gopsutil/v4/process"
)

// Disks reads drives by the names that the system gives them, on Windows their letters, such as D:. Windows and macOS
// count no time during which a drive was busy.
func (fs FS) Disks(devices []string) (Source, error) {
	milliseconds := context.WithValue(context.Background(), psdisk.WillBeDeletedOptInWindowsIOTimeMs, true) //nolint:staticcheck // the library's own key
	read := func() (map[string]diskCounts, error) {
		all, err := psdisk.IOCountersWithContext(milliseconds, devices...)
		counts := make(map[string]diskCounts, len(all))
		for name, d := range all {
			counts[name] = diskCounts{
				float64(d.ReadCount), float64(d.WriteCount), float64(d.ReadBytes), float64(d.WriteBytes),
				float64(d.ReadTime) / 1000, float64(d.WriteTime) / 1000, math.NaN(), float64(d.ReadTime+d.WriteTime) / 1000,
			}
		}
		return counts, err
	}
	first, err := read()
	if err != nil {
		return Source{}, fmt.Errorf("read counters of the drives: %w", err)
	}
	for _, device := range devices {
		if _, ok := first[device]; !ok {
			return Source{}, fmt.Errorf("read counters of drive %s: the system shows none under this name", device)
		}
	}
	return disks(devices, read), nil
}

// CPU reads the processors.
func (fs FS) CPU() (Source, error) {
	read := func() (map[string]cpuTimes, error) {
		all, err := pscpu.Times(true)
		times := make(map[string]cpuTimes, len(all))
		for _, t := range all {
			times[t.CPU] = cpuTimes{t.User + t.Nice + t.System + t.Irq + t.Softirq + t.Steal, t.Iowait}
		}
		return times, err
	}
	first, err := read()
	if err != nil {
		return Source{}, fmt.Errorf("read processor counters: %w", err)
	}
	return cpu(inOrder(first), read), nil
}

// Surroundings has nothing here.
func (fs FS) Surroundings() (Source, error) {
	return Source{Name: "surroundings of the processors", Read: func(context.Context, []float64) error { return nil }}, nil
}

// Memory reads the memory.
func (fs FS) Memory() (Source, error) {
	return memory(func() (float64, error) {
		m, err := psmem.VirtualMemory()
		if err != nil {
			return 0, err
		}
		return float64(m.Available), nil
	}), nil
}

// Client reads the machine that the orders come from, and what ds2 itself takes of it.
func (fs FS) Client() (Source, error) {
	cpu, err := fs.CPU()
	if err != nil {
		return Source{}, err
	}
	self, err := process.NewProcess(int32(os.Getpid()))
	if err != nil {
		return Source{}, fmt.Errorf("open process counters: %w", err)
	}
	return client(cpu, func() (ownUse, error) {
		times, err := self.Times()
		if err != nil {
			return ownUse{}, err
		}
		memory, err := self.MemoryInfo()
		if err != nil {
			return ownUse{}, err
		}
		files, err := self.NumFDs()
		return ownUse{times.User + times.System, float64(memory.RSS), float64(files)}, err
	}), nil
}

// Network reads every interface but the loopback. The speeds of their links are not known here.
func (fs FS) Network() (Source, error) {
	loopback := map[string]bool{}
	interfaces, err := net.Interfaces()
	if err != nil {
		return Source{}, fmt.Errorf("read network counters: %w", err)
	}
	for _, i := range interfaces {
		loopback[i.Name] = i.Flags&net.FlagLoopback != 0
	}
	read := func() (map[string]traffic, error) {
		counters, err := psnet.IOCounters(true)
		all := make(map[string]traffic, len(counters))
		for _, c := range counters {
			if !loopback[c.Name] {
				all[c.Name] = traffic{float64(c.BytesRecv), float64(c.BytesSent)}
			}
		}
		return all, err
	}
	first, err := read()
	if err != nil {
		return Source{}, fmt.Errorf("read network counters: %w", err)
	}
	return network(inOrder(first), func(string) (float64, bool) { return 0, false }, read), nil
}

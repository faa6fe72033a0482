//go:build !linux

package monitor

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	pscpu "github.com/shirou/gopsutil/v4/cpu"
	psdisk "github.com/shirou/gopsutil/v4/disk"
	pshost "github.com/shirou/gopsutil/v4/host"
	psmem "github.com/shirou/gopsutil/v4/mem"
)

// Machine describes this computer with the drives named. What the system does not tell stays empty.
func (fs FS) Machine(drives []string) Machine {
	m := Machine{System: runtime.GOOS, Processors: runtime.NumCPU()}
	m.Hostname, _ = os.Hostname()
	if host, err := pshost.Info(); err == nil {
		m.System = strings.TrimSpace(cmp.Or(host.Platform, runtime.GOOS) + " " + host.PlatformVersion)
		m.Kernel = host.KernelVersion
	}
	if cpus, err := pscpu.Info(); err == nil && len(cpus) > 0 {
		m.Processor = cpus[0].ModelName
	}
	if memory, err := psmem.VirtualMemory(); err == nil {
		m.MemoryBytes = int64(memory.Total)
	}
	for _, name := range drives {
		m.Drives = append(m.Drives, Drive{Name: name})
	}
	return m
}

// Find tells the file system of a directory and its device: on Windows the letter of its drive.
func (fs FS) Find(dir string) (FileSystem, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return FileSystem{}, err
	}
	partitions, err := psdisk.Partitions(false)
	if err != nil {
		return FileSystem{}, fmt.Errorf("find the drive under %s: %w", dir, err)
	}
	var best FileSystem
	for _, p := range partitions {
		if under(dir, p.Mountpoint) && (len(best.Devices) == 0 || len(p.Mountpoint) >= len(best.MountPoint)) {
			best = FileSystem{p.Mountpoint, p.Fstype, p.Opts, []string{strings.TrimPrefix(p.Device, "/dev/")}}
		}
	}
	if len(best.Devices) == 0 {
		return best, fmt.Errorf("find the drive under %s: no file system holds it", dir)
	}
	return best, nil
}

// under says whether a path lies in a directory; Windows takes upper and lower case for the same.
func under(path, dir string) bool {
	if runtime.GOOS == "windows" {
		path, dir = strings.ToLower(path), strings.ToLower(dir)
	}
	relative, err := filepath.Rel(dir+string(filepath.Separator), path)
	return err == nil && relative != ".." && !strings.HasPrefix(relative, ".."+string(filepath.Separator))
}

// Drives are the drives of the machine: what to observe where nothing better is known.
func (fs FS) Drives() ([]string, error) {
	all, err := psdisk.IOCounters()
	if err != nil {
		return nil, fmt.Errorf("list drives: %w", err)
	}
	return inOrder(all), nil
}

// serverProcess is a database server on this machine, which is not looked for here.
type serverProcess struct{ Container }

func (fs FS) findServer(int, string) (*serverProcess, error) {
	return nil, errors.New("processes are observed on Linux only")
}

func (s *serverProcess) source(FS, string, string) Source { return Source{} }

// ownThrottling knows containers of Linux only.
func (fs FS) ownThrottling() (Source, bool) { return Source{}, false }

// RAPL is for Linux only.
func (fs FS) RAPL() (Source, error) { return Source{}, ErrNoRAPL }

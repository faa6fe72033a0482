package monitor

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// Machine describes this computer with the drives named. What the kernel does not tell stays empty.
func (fs FS) Machine(drives []string) Machine {
	m := Machine{
		System:     cmp.Or(value("/etc/os-release", "PRETTY_NAME", "="), runtime.GOOS),
		Kernel:     line(filepath.Join(fs.Proc, "sys/kernel/osrelease")),
		Processor:  value(filepath.Join(fs.Proc, "cpuinfo"), "model name", ":"),
		Processors: runtime.NumCPU(),
	}
	m.Hostname, _ = os.Hostname()
	if pfs, err := procfs.NewFS(fs.Proc); err == nil {
		if stat, err := pfs.Stat(); err == nil {
			m.Processors = len(stat.CPU)
		}
		if mem, err := pfs.Meminfo(); err == nil && mem.MemTotalBytes != nil {
			m.MemoryBytes = int64(*mem.MemTotalBytes)
		}
	}
	for _, name := range drives {
		m.Drives = append(m.Drives, fs.drive(name))
	}
	return m
}

func (fs FS) drive(name string) Drive {
	dir := filepath.Join(fs.Sys, "block", name)
	sectors, _ := strconv.ParseInt(line(filepath.Join(dir, "size")), 10, 64)
	d := Drive{
		Name:       name,
		Model:      line(filepath.Join(dir, "device/model")),
		Bytes:      sectors * procfs.SectorSize,
		Rotational: line(filepath.Join(dir, "queue/rotational")) == "1",
		Scheduler:  line(filepath.Join(dir, "queue/scheduler")),
		WriteCache: line(filepath.Join(dir, "queue/write_cache")),
		FUA:        line(filepath.Join(dir, "queue/fua")) == "1",
	}
	// "none [mq-deadline] kyber": the one in brackets is in force.
	if _, rest, ok := strings.Cut(d.Scheduler, "["); ok {
		d.Scheduler, _, _ = strings.Cut(rest, "]")
	}
	return d
}

// line is a small file's text without the blanks around it; empty where it cannot be read.
func line(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// value is what a file of lines "name separator value" gives a name first; empty where it gives nothing.
func value(file, name, separator string) string {
	for text := range strings.Lines(line(file)) {
		if key, v, ok := strings.Cut(text, separator); ok && strings.TrimSpace(key) == name {
			return strings.Trim(v, " \t\n\"")
		}
	}
	return ""
}

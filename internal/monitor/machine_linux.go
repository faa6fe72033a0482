package monitor

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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

// process finds a server's process on this machine, and opens the counters of it and of its container, which is nil
// where it may use all of the machine.
func (w *Observer) process(ctx context.Context, s *Instance, item string) *Container {
	var pid int
	var held limits
	err := FindProcess(ctx, s.Databases[0], Root.Proc, func(found int, program string) (err error) {
		pid = Root.server(found, program)
		held, err = Root.limits(pid)
		return err
	})
	if err != nil {
		w.note("what the server %s takes of this machine is not observed: %v", s.Name, err)
		return nil
	}
	w.serverProcesses = append(w.serverProcesses, pid)
	w.Sources = append(w.Sources, Root.serverSources(pid, held, item, s.Name)...)
	if held.Container == (Container{}) {
		return nil
	}
	return &held.Container
}

// thisMachine opens the counters of the machine that ds2 runs on, on which the database files named lie.
func (w *Observer) thisMachine(ctx context.Context, files []File) error {
	w.Local = true
	devices := slices.Clone(w.devices)
	var fileSystem *FileSystem
	roles := map[string][]Role{} // by device
	for i, file := range files {
		found, err := Root.Find(file.Path)
		if err != nil {
			w.note("find the block devices under %s: %v", file.Path, err)
			continue
		}
		if i == 0 {
			fileSystem = &found
		}
		if len(w.devices) == 0 {
			devices = append(devices, found.Devices...)
		}
		for _, device := range found.Devices {
			if !slices.Contains(roles[device], file.Role) {
				roles[device] = append(roles[device], file.Role)
			}
		}
	}
	slices.Sort(devices)
	devices = slices.Compact(devices)
	if len(devices) == 0 {
		var err error
		if devices, err = Root.Drives(); err != nil {
			return err
		}
	}
	machine := Root.Machine(devices)
	maps.Copy(roles, w.roles) // the user knows better
	for i := range machine.Drives {
		machine.Drives[i].Roles = roles[machine.Drives[i].Name]
	}
	machine.FileSystem = fileSystem
	w.Machine = &machine
	flushes := map[string]flushing{}
	for _, d := range devices {
		flushes[d] = w.withoutJournals(roles[d])
	}
	counters, err := Root.Counters(devices, flushes)
	if err != nil {
		return &OptionError{"devices", err}
	}
	if err := w.noteUncounted(ctx, machine.Drives, counters); err != nil {
		return err
	}
	w.Sources = append(w.Sources, counters)
	return nil
}

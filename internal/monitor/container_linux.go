package monitor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// limits are what a process may use of its machine, by its control groups of version 2 and the CPUs that it may run on.
type limits struct {
	Container
	memory, cpu string // the groups with the lowest limits, which count for all below them; empty: none has one
}

// process is one of this machine, and what the kernel tells of all.
func (fs FS) process(pid int) (pfs procfs.FS, process procfs.Proc, err error) {
	if pfs, err = procfs.NewFS(fs.Proc); err == nil {
		process, err = pfs.Proc(pid)
	}
	return pfs, process, err
}

// limits reads those of a process.
func (fs FS) limits(pid int) (l limits, err error) {
	pfs, process, err := fs.process(pid)
	if err != nil {
		return l, err
	}
	memberships, err := process.Cgroups()
	if err != nil {
		return l, fmt.Errorf("read the control groups of process %d: %w", pid, err)
	}
	mounts, err := pfs.GetProcMounts(os.Getpid())
	if err != nil {
		return l, err
	}
	own := slices.IndexFunc(memberships, func(m procfs.Cgroup) bool { return m.HierarchyID == 0 })
	tree := slices.IndexFunc(mounts, func(m *procfs.MountInfo) bool { return m.FSType == "cgroup2" })
	if own >= 0 && tree >= 0 {
		groups := groupsOf(memberships[own].Path, mounts[tree])
		var memory float64
		memory, l.memory = lowest(groups, func(dir string) float64 {
			return numberIn(filepath.Join(dir, "memory.max"))
		})
		l.MemoryBytes = int64(memory)
		l.Processors, l.cpu = lowest(groups, func(dir string) float64 { // "200000 100000", or "max 100000"
			quota, period, _ := strings.Cut(line(filepath.Join(dir, "cpu.max")), " ")
			return parsed(quota) / cmp.Or(parsed(period), 1)
		})
	}
	status, _ := process.NewStatus()
	if allowed := len(status.CpusAllowedList); allowed > 0 && allowed < runtime.NumCPU() {
		l.Processors = lower(l.Processors, float64(allowed))
	}
	return l, nil
}

// groupsOf are the directories of a group and of all above it, as far as this process sees them.
func groupsOf(path string, mount *procfs.MountInfo) (dirs []string) {
	// In a container without its own cgroup namespace, the mount shows a part of the hierarchy.
	inside := strings.TrimPrefix(path, strings.TrimSuffix(mount.Root, "/"))
	top := filepath.Clean(mount.MountPoint)
	dir := filepath.Join(top, inside)
	if _, unseen := os.Stat(dir); unseen != nil || strings.HasPrefix(path, "/..") || !within(dir, top) {
		dir = top
	}
	for ; dir != top; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return append(dirs, top)
}

// lowest is the lowest limit of some groups, and whose it is; 0 where none has one.
func lowest(groups []string, limit func(dir string) float64) (low float64, group string) {
	for _, dir := range groups {
		if v := limit(dir); v > 0 && (group == "" || v < low) {
			low, group = v, dir
		}
	}
	return low, group
}

// numberIn is the number in a file; 0 where there is none.
func numberIn(file string) float64 { return parsed(line(file)) }

func parsed(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64) // "max": 0
	return v
}

// numbers are those of a file of lines "name number".
func numbers(file string) (map[string]float64, error) {
	text, err := os.ReadFile(file)
	all := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[name] = parsed(value)
	}
	return all, err
}

// throttling reads how often the limited group had used up its CPU time before a period's end, of how many periods, and
// for how many seconds its processes then stood still.
func (l limits) throttling() (throttled, periods, seconds float64, err error) {
	stat, err := numbers(filepath.Join(l.cpu, "cpu.stat"))
	return stat["nr_throttled"], stat["nr_periods"], stat["throttled_usec"] / 1e6, err
}

// available is the memory of the limited group that its processes can have before they are killed: what files take in
// the page cache is given back first.
func (l limits) available() (float64, error) {
	stat, err := numbers(filepath.Join(l.memory, "memory.stat"))
	if err != nil {
		return math.NaN(), err
	}
	used := numberIn(filepath.Join(l.memory, "memory.current"))
	return float64(l.MemoryBytes) - used + stat["inactive_file"] + stat["active_file"], nil
}

// server is the process whose children are a server's sessions, of which one was found, or else that one itself: it is
// all of the server.
func (fs FS) server(found int, program string) int {
	_, process, err := fs.process(found)
	if err != nil {
		return found
	}
	stat, err := process.Stat()
	if err == nil && line(filepath.Join(fs.Proc, strconv.Itoa(stat.PPID), "comm")) == program {
		return stat.PPID
	}
	return found
}

// taken is what a process, its children and those children that are gone have taken: seconds of CPUs, and bytes from
// drives; NaN where this process may not know.
func (fs FS) taken(pid int) (seconds, readBytes float64, err error) {
	pfs, process, err := fs.process(pid)
	if err != nil {
		return math.NaN(), math.NaN(), err
	}
	stat, err := process.Stat()
	if err != nil {
		return math.NaN(), math.NaN(), err
	}
	const ticks = 100 // a second, on all of Linux's architectures
	seconds, readBytes = stat.CPUTime()+float64(stat.CUTime+stat.CSTime)/ticks, bytesRead(process)
	own := strconv.Itoa(pid)
	for _, child := range strings.Fields(line(filepath.Join(fs.Proc, own, "task", own, "children"))) {
		n, _ := strconv.Atoi(child)
		if p, err := pfs.Proc(n); err == nil {
			if stat, err := p.Stat(); err == nil {
				seconds += stat.CPUTime()
				readBytes += bytesRead(p)
			}
		}
	}
	return seconds, readBytes, nil
}

// bytesRead is what a process and those of its children that are gone had read from drives; NaN where it is not told.
func bytesRead(p procfs.Proc) float64 {
	io, err := p.IO()
	if err != nil {
		return math.NaN()
	}
	return float64(io.ReadBytes)
}

// serverSources read what a server takes and how its container holds it back; item tells several servers apart.
func (fs FS) serverSources(pid int, l limits, item, server string) []Source {
	processes := Source{
		Name: "processes of " + server,
		Read: func(_ context.Context, values []float64) (err error) {
			values[0], values[1], err = fs.taken(pid)
			return err
		},
	}
	kinds := []kind{
		{"server_processor_seconds_total", "CPU time that the database server's processes took.",
			ServerProcessors, nil},
		{"server_read_bytes_total", "Bytes that the database server's processes had read from drives.",
			ServerReadBytes, nil},
	}
	if l.Processors > 0 {
		kinds = append(kinds, kind{column: ServerUsed, derive: share(0, l.Processors)})
	}
	processes.add("server", server, item, kinds...)
	throttling := l.throttles("the database server", ServerThrottled, "server", server, item)
	all := append([]Source{processes}, throttling...)
	if l.memory != "" {
		free := Source{Name: "memory of " + server, Read: func(_ context.Context, values []float64) (err error) {
			values[0], err = l.available()
			return err
		}}
		free.add("server", server, item, kind{"server_available_bytes",
			"Memory that the database server's container can still have.", ServerMemory, gauge(0)})
		all = append(all, free)
	}
	return all
}

// throttles reads how the group, where it does, holds its processes back, of those whose container it is: ds2, or a
// server.
func (l limits) throttles(whose, column, label, server, inColumns string) []Source {
	if l.cpu == "" {
		return nil
	}
	src := Source{
		Name: "container of " + whose,
		Read: func(_ context.Context, values []float64) error {
			throttled, periods, seconds, err := l.throttling()
			if err == nil {
				values[0], values[1], values[2] = throttled, periods, seconds
			}
			return err
		},
	}
	prefix, _, _ := strings.Cut(column, ".")
	container := whose + "'s container"
	src.add(label, server, inColumns,
		kind{prefix + "_throttled_periods_total", "Periods in which " + container + " had used up its CPU time.",
			column, ratio(0, 1)},
		kind{figure: prefix + "_periods_total",
			help: "Periods in which the CPU time of " + container + " was counted."},
		kind{figure: prefix + "_throttled_seconds_total",
			help: "Time that processes of " + container + " stood still for that."})
	return []Source{src}
}

// ownSources read what ds2 itself takes of its machine, and how its own container, if there is one, holds it back.
func (fs FS) ownSources() ([]Source, error) {
	client, err := fs.Client()
	own, _ := fs.limits(os.Getpid())
	return append([]Source{client}, own.throttles("ds2", ClientThrottled, "", "", "")...), err
}

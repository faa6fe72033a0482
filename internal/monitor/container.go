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

// limits are what a process may use of its machine, by its control groups of version 2 and the CPUs
// that it may run on.
type limits struct {
	Container
	// the groups with the lowest limits, which count for all below them; empty: none has one
	memory, cpu string
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
	tree := slices.IndexFunc(mounts, func(m *procfs.MountInfo) bool {
		return m.FSType == "cgroup2"
	})
	if own >= 0 && tree >= 0 {
		groups := groupsOf(memberships[own].Path, mounts[tree])
		var memory float64
		memory, l.memory = lowest(groups, func(dir string) float64 {
			return parsed(line(filepath.Join(dir, "memory.max")))
		})
		l.MemoryBytes = int64(memory)
		l.Processors, l.cpu = lowest(
			groups,
			func(dir string) float64 { // "200000 100000", or "max 100000"
				quota, period, _ := strings.Cut(line(filepath.Join(dir, "cpu.max")), " ")
				return parsed(quota) / cmp.Or(parsed(period), 1)
			},
		)
	}
	status, _ := process.NewStatus()
	stat, _ := pfs.Stat() // ds2 may be held to fewer CPUs than the server
	if allowed := len(status.CpusAllowedList); allowed > 0 && allowed < len(stat.CPU) {
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
	if _, unseen := os.Stat(dir); unseen != nil || strings.HasPrefix(path, "/..") ||
		!within(dir, top) {
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
			low = v
			group = dir
		}
	}
	return low, group
}

// parsed is a number; 0 where there is none.
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

// throttling reads how often the limited group had used up its CPU time before a period's end, of
// how many periods, and for how many seconds its processes then stood still.
func (l limits) throttling(context.Context) ([]float64, error) {
	stat, err := numbers(filepath.Join(l.cpu, "cpu.stat"))
	if err != nil {
		return nil, err
	}
	return []float64{stat["nr_throttled"], stat["nr_periods"], stat["throttled_usec"] / 1e6}, nil
}

// available is the memory of the limited group that its processes can have before they are killed:
// what files take in the page cache is given back first.
func (l limits) available(context.Context) ([]float64, error) {
	stat, err := numbers(filepath.Join(l.memory, "memory.stat"))
	if err != nil {
		return nil, err
	}
	used := parsed(line(filepath.Join(l.memory, "memory.current")))
	return []float64{
		float64(l.MemoryBytes) - used + stat["inactive_file"] + stat["active_file"],
	}, nil
}

// taken is what a process, its children and those children that are gone have taken: seconds of
// CPUs, and bytes from drives; NaN where this process may not know.
func (fs FS) taken(pid int) ([]float64, error) {
	pfs, process, err := fs.process(pid)
	if err != nil {
		return nil, err
	}
	stat, err := process.Stat()
	if err != nil {
		return nil, err
	}
	const ticks = 100 // a second, on all of Linux's architectures
	seconds := stat.CPUTime() + float64(stat.CUTime+stat.CSTime)/ticks
	readBytes := bytesRead(process)
	own := strconv.Itoa(pid)
	children, err := os.ReadFile(filepath.Join(fs.Proc, own, "task", own, "children"))
	if err != nil { // as of a kernel that does not tell
		return nil, err
	}
	for _, child := range strings.Fields(string(children)) {
		n, _ := strconv.Atoi(child)
		if p, err := pfs.Proc(n); err == nil {
			if stat, err := p.Stat(); err == nil {
				seconds += stat.CPUTime()
				readBytes += bytesRead(p)
			}
		}
	}
	return []float64{seconds, readBytes}, nil
}

// bytesRead is what a process and those of its children that are gone had read from drives; NaN
// where it is not told.
func bytesRead(p procfs.Proc) float64 {
	io, err := p.IO()
	if err != nil {
		return math.NaN()
	}
	return float64(io.ReadBytes)
}

// serverSources read what a server takes and how its container holds it back; item tells several
// servers apart.
func (fs FS) serverSources(pid int, l limits, item, server string) []Source {
	kinds := []kind{
		{
			"server_processor_seconds_total", "CPU time that the database server's processes took.",
			ServerProcessors, nil,
		},
		{
			"server_read_bytes_total",
			"Bytes that the database server's processes had read from drives.",
			ServerReadBytes,
			nil,
		},
	}
	if l.Processors > 0 {
		kinds = append(kinds, kind{column: ServerUsed, derive: share(0, l.Processors)})
	}
	taken := func(context.Context) ([]float64, error) { return fs.taken(pid) }
	all := append([]Source{single("processes of "+server, "server", server, item, kinds, taken)},
		l.throttles("the database server", ServerThrottled, "server", server, item)...)
	if l.memory != "" {
		free := []kind{{
			"server_available_bytes",
			"Memory that the database server's container can still have.", ServerMemory, gauge(0),
		}}
		all = append(all, single("memory of "+server, "server", server, item, free, l.available))
	}
	return all
}

// throttles reads how the group, where it does, holds its processes back, of those whose container
// it is: ds2, or a server.
func (l limits) throttles(whose, column, label, server, inColumns string) []Source {
	if l.cpu == "" {
		return nil
	}
	prefix, _, _ := strings.Cut(column, ".")
	container := whose + "'s container"
	kinds := []kind{
		{
			prefix + "_throttled_periods_total",
			"Periods in which " + container + " had used up its CPU time.",
			column,
			ratio(0, 1),
		},
		{
			prefix + "_periods_total",
			"Periods in which the CPU time of " + container + " was counted.",
			"",
			nil,
		},
		{
			prefix + "_throttled_seconds_total",
			"Time that processes of " + container + " stood still for that.",
			"",
			nil,
		},
	}
	return []Source{single("container of "+whose, label, server, inColumns, kinds, l.throttling)}
}

// ownSources read the machine that the orders come from: how busy its CPUs are, what ds2 itself
// takes of it, which must not grow in a run of days, and how its own container, if there is one,
// holds it back.
func (fs FS) ownSources() ([]Source, error) {
	if runtime.GOOS != "linux" {
		return nil, nil
	}
	pfs, self, err := fs.process(os.Getpid())
	if err != nil {
		return nil, fmt.Errorf("open process counters: %w", err)
	}
	first, err := pfs.Stat()
	if err != nil {
		return nil, fmt.Errorf("read CPU counters: %w", err)
	}
	client := single("client", "", "", "", []kind{
		{
			"client_busy_seconds_total",
			"Time that the CPUs of the machine that ds2 runs on worked, summed over all.",
			ClientBusy, atMostOne(share(0, float64(len(first.CPU)))),
		},
		{"client_own_seconds_total", "CPU time that ds2 itself took.", ClientOwn, nil},
		{
			column: ClientUsed,
			derive: share(1, float64(runtime.GOMAXPROCS(0))),
		}, // which heeds a container's limit
		{"client_resident_bytes", "Memory that ds2 itself takes.", ClientMemory, gauge(2)},
		{
			"client_open_files",
			"Files and connections that ds2 itself has open.",
			ClientFiles,
			gauge(3),
		},
		{"client_goroutines", "Goroutines of ds2 itself.", ClientGoroutines, gauge(4)},
	}, func(context.Context) ([]float64, error) {
		machine, err := pfs.Stat()
		own, ownErr := self.Stat()
		files, filesErr := self.FileDescriptorsLen()
		if err := cmp.Or(err, ownErr, filesErr); err != nil {
			return nil, err
		}
		all := machine.CPUTotal
		return []float64{
			all.User + all.Nice + all.System + all.IRQ + all.SoftIRQ + all.Steal,
			own.CPUTime(),
			float64(own.ResidentMemory()),
			float64(files),
			float64(runtime.NumGoroutine()),
		}, nil
	})
	own, _ := fs.limits(os.Getpid())
	return append([]Source{client}, own.throttles("ds2", ClientThrottled, "", "", "")...), nil
}

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

// group is the control group of a process in the hierarchy of one controller.
type group struct {
	dir, top string // as this process sees them; top is the highest that it sees
	limited  string // the one of these with the lowest limit, which counts for all below it; empty: none has one
}

// groups are the control groups that a container's figures come from, nil where one cannot be seen, and the CPUs
// that the process may run on, 0 where that is not known.
type groups struct {
	memory, cpu *group
	allowed     int
}

// process is one of this machine, and what the kernel tells of all.
func (fs FS) process(pid int) (pfs procfs.FS, process procfs.Proc, err error) {
	if pfs, err = procfs.NewFS(fs.Proc); err == nil {
		process, err = pfs.Proc(pid)
	}
	return pfs, process, err
}

// groups finds the control groups of a process, which are of version 2.
func (fs FS) groups(pid int) (groups, error) {
	pfs, process, err := fs.process(pid)
	if err != nil {
		return groups{}, err
	}
	memberships, err := process.Cgroups()
	if err != nil {
		return groups{}, fmt.Errorf("read the control groups of process %d: %w", pid, err)
	}
	mounts, err := pfs.GetProcMounts(os.Getpid())
	if err != nil {
		return groups{}, err
	}
	find := func(controller string) *group {
		for _, m := range memberships {
			if m.HierarchyID != 0 {
				continue
			}
			for _, mount := range mounts {
				if mount.FSType != "cgroup2" {
					continue
				}
				// In a container without its own cgroup namespace, the mount shows a part of the hierarchy.
				inside := strings.TrimPrefix(m.Path, strings.TrimSuffix(mount.Root, "/"))
				g := &group{dir: filepath.Join(mount.MountPoint, inside), top: filepath.Clean(mount.MountPoint)}
				_, unseen := os.Stat(g.dir)
				if strings.HasPrefix(m.Path, "/..") || !within(g.dir, g.top) || unseen != nil {
					g.dir = g.top
				}
				controllers := strings.Fields(line(filepath.Join(g.dir, "cgroup.controllers")))
				if slices.Contains(controllers, controller) {
					return g
				}
			}
		}
		return nil
	}
	status, _ := process.NewStatus()
	return groups{find("memory"), find("cpu"), len(status.CpusAllowedList)}, nil
}

// lowest finds the lowest limit among those of this group and of all above it; 0 where none has one.
func (g *group) lowest(limit func(dir string) float64) (low float64) {
	if g == nil {
		return 0
	}
	for dir := g.dir; within(dir, g.top); dir = filepath.Dir(dir) {
		if v := limit(dir); v > 0 && (g.limited == "" || v < low) {
			low, g.limited = v, dir
		}
		if dir == g.top {
			break
		}
	}
	return low
}

// container reads the limits.
func (g groups) container() Container {
	memory := g.memory.lowest(func(dir string) float64 { return numberIn(filepath.Join(dir, "memory.max")) })
	cpus := g.cpu.lowest(func(dir string) float64 { // "200000 100000", or "max 100000"
		quota, period, _ := strings.Cut(line(filepath.Join(dir, "cpu.max")), " ")
		return parsed(quota) / cmp.Or(parsed(period), 1)
	})
	if g.allowed > 0 && g.allowed < runtime.NumCPU() && (cpus == 0 || float64(g.allowed) < cpus) {
		cpus = float64(g.allowed)
	}
	return Container{int64(memory), cpus}
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
func (g *group) throttling() (throttled, periods, seconds float64, err error) {
	stat, err := numbers(filepath.Join(g.limited, "cpu.stat"))
	return stat["nr_throttled"], stat["nr_periods"], stat["throttled_usec"] / 1e6, err
}

// available is the memory of the limited group that its processes can have before they are killed: what files take in
// the page cache is given back first.
func (g *group) available(limit int64) (float64, error) {
	stat, err := numbers(filepath.Join(g.limited, "memory.stat"))
	if err != nil {
		return math.NaN(), err
	}
	used := numberIn(filepath.Join(g.limited, "memory.current"))
	return float64(limit) - used + stat["inactive_file"] + stat["active_file"], nil
}

// serverProcess is a database server on this machine.
type serverProcess struct {
	pid int // of the process whose children are its sessions, or that is all of the server
	groups
	Container
}

// findServer finds a server by one of its processes: one that serves a session, or that is all of it.
func (fs FS) findServer(found int, program string) (*serverProcess, error) {
	pfs, process, err := fs.process(found)
	if err != nil {
		return nil, err
	}
	stat, err := process.Stat()
	if err != nil {
		return nil, err
	}
	s := &serverProcess{pid: found}
	if parent, err := pfs.Proc(stat.PPID); err == nil {
		if name, err := parent.Comm(); err == nil && name == program {
			s.pid = stat.PPID // the postmaster of a session's process
		}
	}
	if s.groups, err = fs.groups(s.pid); err != nil {
		return nil, err
	}
	s.Container = s.groups.container()
	return s, nil
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

// sources read what the server takes and how its container holds it back; item tells several servers apart.
func (s *serverProcess) sources(fs FS, item, server string) []Source {
	processes := Source{
		Name: "processes of " + server,
		Read: func(_ context.Context, values []float64) (err error) {
			values[0], values[1], err = fs.taken(s.pid)
			return err
		},
	}
	kinds := []kind{
		{"server_processor_seconds_total", "CPU time that the database server's processes took.",
			ServerProcessors, nil},
		{"server_read_bytes_total", "Bytes that the database server's processes had read from drives.",
			ServerReadBytes, nil},
	}
	if s.Processors > 0 {
		kinds = append(kinds, kind{column: ServerUsed, derive: share(0, s.Processors)})
	}
	processes.add("server", server, item, kinds...)
	throttling := s.cpu.throttles("the database server", ServerThrottled, "server", server, item)
	all := append([]Source{processes}, throttling...)
	if s.memory.holds() {
		free := Source{Name: "memory of " + server, Read: func(_ context.Context, values []float64) (err error) {
			values[0], err = s.memory.available(s.MemoryBytes)
			return err
		}}
		free.add("server", server, item, kind{"server_available_bytes",
			"Memory that the database server's container can still have.", ServerMemory, gauge(0)})
		all = append(all, free)
	}
	return all
}

// holds says whether the group or one above it has a limit.
func (g *group) holds() bool { return g != nil && g.limited != "" }

// throttles reads how the group, where it does, holds its processes back, of those whose container it is: ds2, or a
// server.
func (g *group) throttles(whose, column, label, server, inColumns string) []Source {
	if !g.holds() {
		return nil
	}
	src := Source{
		Name: "container of " + whose,
		Read: func(_ context.Context, values []float64) error {
			throttled, periods, seconds, err := g.throttling()
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
	own, _ := fs.groups(os.Getpid())
	own.container()
	return append([]Source{client}, own.cpu.throttles("ds2", ClientThrottled, "", "", "")...), err
}

package topology

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// Limits are what a process may use of its machine, by its control groups of version 2 and the CPUs
// that it may run on.
type Limits struct {
	Container
	// the groups with the lowest limits, which count for all below them; empty: none has one
	Memory, CPU string
}

// Process is one of this machine, and what the kernel tells of all.
func (fs FS) Process(pid int) (pfs procfs.FS, process procfs.Proc, err error) {
	if pfs, err = procfs.NewFS(fs.Proc); err == nil {
		process, err = pfs.Proc(pid)
	}
	return pfs, process, err
}

// Limits reads those of a process.
func (fs FS) Limits(pid int) (l Limits, err error) {
	pfs, process, err := fs.Process(pid)
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
		memory, l.Memory = lowest(groups, func(dir string) float64 {
			return parsed(ReadText(filepath.Join(dir, "memory.max")))
		})
		l.MemoryBytes = int64(memory)
		l.Processors, l.CPU = lowest(
			groups,
			func(dir string) float64 { // "200000 100000", or "max 100000"
				quota, period, _ := strings.Cut(ReadText(filepath.Join(dir, "cpu.max")), " ")
				return parsed(quota) / cmp.Or(parsed(period), 1)
			},
		)
	}
	status, _ := process.NewStatus()
	stat, _ := pfs.Stat() // ds2 may be held to fewer CPUs than the server
	if allowed := len(status.CpusAllowedList); allowed > 0 && allowed < len(stat.CPU) {
		l.Processors = LowerLimit(l.Processors, float64(allowed))
	}
	return l, nil
}

// groupsOf are the directories of a group and of all above it, as far as this process sees them.
func groupsOf(path string, mount *procfs.MountInfo) (dirs []string) {
	// In a container without its own cgroup namespace, the mount shows a part of the hierarchy.
	inside := strings.TrimPrefix(path, strings.TrimSuffix(mount.Root, "/"))
	top := filepath.Clean(mount.MountPoint)
	dir := filepath.Join(top, inside)
	if _, unseen := os.Stat(
		dir,
	); unseen != nil || strings.HasPrefix(path, "/..") ||
		!Within(dir, top) {
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

// Throttling reads how often the limited group had used up its CPU time before a period's end, of
// how many periods, and for how many seconds its processes then stood still.
func (l Limits) Throttling(context.Context) ([]float64, error) {
	stat, err := numbers(filepath.Join(l.CPU, "cpu.stat"))
	if err != nil {
		return nil, err
	}
	return []float64{stat["nr_throttled"], stat["nr_periods"], stat["throttled_usec"] / 1e6}, nil
}

// Available is the memory of the limited group that its processes can have before they are killed:
// what files take in the page cache is given back first.
func (l Limits) Available(context.Context) ([]float64, error) {
	stat, err := numbers(filepath.Join(l.Memory, "memory.stat"))
	if err != nil {
		return nil, err
	}
	used := parsed(ReadText(filepath.Join(l.Memory, "memory.current")))
	return []float64{
		float64(l.MemoryBytes) - used + stat["inactive_file"] + stat["active_file"],
	}, nil
}

// LowerLimit is the lower of two limits; 0 is none.
func LowerLimit[N cmp.Ordered](a, b N) N {
	return min(cmp.Or(a, b), cmp.Or(b, a))
}

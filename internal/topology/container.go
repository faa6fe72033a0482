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

// Limits are what a process may use of its machine, by its control groups and the CPUs that it may
// run on.
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
	var groups []string
	for _, membership := range memberships {
		tree := slices.IndexFunc(mounts, func(m *procfs.MountInfo) bool {
			return hierarchyOf(membership, m)
		})
		if tree >= 0 {
			groups = append(groups, groupsOf(membership.Path, mounts[tree])...)
		}
	}
	memory, group := lowestLimit(groups, memoryLimit)
	l.MemoryBytes = int64(memory)
	l.Memory = group
	l.Processors, l.CPU = lowestLimit(groups, processorLimit)
	status, _ := process.NewStatus()
	stat, _ := pfs.Stat() // ds2 may be held to fewer CPUs than the server
	if allowed := len(status.CpusAllowedList); allowed > 0 && allowed < len(stat.CPU) {
		l.Processors = LowerLimit(l.Processors, float64(allowed))
	}
	return l, nil
}

// hierarchyOf says whether a mount shows the hierarchy of a membership: the only one of version 2,
// or of version 1 that of its controllers.
func hierarchyOf(membership procfs.Cgroup, mount *procfs.MountInfo) bool {
	if membership.HierarchyID == 0 {
		return mount.FSType == "cgroup2"
	}
	return mount.FSType == "cgroup" && !slices.ContainsFunc(membership.Controllers,
		func(controller string) bool {
			_, its := mount.SuperOptions[controller]
			return !its
		})
}

// unlimited is what version 1 of control groups has for no limit of memory, or more.
const unlimited = 1 << 60

// memoryLimit is that of a group in bytes; 0 where it has none.
func memoryLimit(dir string) float64 {
	limit := parseNumber(readFirst(dir, "memory.max", "memory.limit_in_bytes"))
	if limit >= unlimited {
		return 0
	}
	return limit
}

// processorLimit is how many CPUs' time a group may have; not above 0 where it has no limit.
func processorLimit(dir string) float64 {
	quota, period, together := strings.Cut(ReadText(dir, "cpu.max"), " ")
	if !together { // version 1
		quota = ReadText(dir, "cpu.cfs_quota_us")
		period = ReadText(dir, "cpu.cfs_period_us")
	}
	// Both in µs: 150000 of 100000 are the time of one and a half CPUs.
	return parseNumber(quota) / cmp.Or(parseNumber(period), 1)
}

// readFirst is the text of the first of some files that is not empty.
func readFirst(dir string, names ...string) (text string) {
	for _, name := range names {
		text = cmp.Or(text, ReadText(dir, name))
	}
	return text
}

// groupsOf are the directories of a group and of all above it, as far as this process sees them.
func groupsOf(path string, mount *procfs.MountInfo) (dirs []string) {
	// In a container without its own cgroup namespace, the mount shows a part of the hierarchy.
	inside := strings.TrimPrefix(path, strings.TrimSuffix(mount.Root, "/"))
	top := filepath.Clean(mount.MountPoint)
	dir := filepath.Join(top, inside)
	if _, unseen := os.Stat(dir); unseen != nil || strings.HasPrefix(path, "/..") ||
		!Within(dir, top) {
		dir = top
	}
	for ; dir != top; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return append(dirs, top)
}

// lowestLimit is the lowest limit of some groups, and whose it is; 0 where none has one.
func lowestLimit(groups []string, limit func(dir string) float64) (low float64, group string) {
	for _, dir := range groups {
		if v := limit(dir); v > 0 && (group == "" || v < low) {
			low = v
			group = dir
		}
	}
	return low, group
}

// parseNumber is a number; 0 where there is none.
func parseNumber(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64) // "max": 0
	return v
}

// readNumbers are those of a file of lines "name number".
func readNumbers(file string) (map[string]float64, error) {
	text, err := os.ReadFile(file)
	all := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[name] = parseNumber(value)
	}
	return all, err
}

// Throttling reads how often the limited group had used up its CPU time before a period's end, of
// how many periods, and for how many seconds its processes then stood still.
func (l Limits) Throttling(context.Context) ([]float64, error) {
	stat, err := readNumbers(filepath.Join(l.CPU, "cpu.stat"))
	if err != nil {
		return nil, err
	}
	stood := stat["throttled_usec"]/1e6 + stat["throttled_time"]/1e9 // version 2, version 1
	return []float64{stat["nr_throttled"], stat["nr_periods"], stood}, nil
}

// Available is the memory of the limited group that its processes can have before they are killed:
// what files take in the page cache is given back first.
func (l Limits) Available(context.Context) ([]float64, error) {
	stat, err := readNumbers(filepath.Join(l.Memory, "memory.stat"))
	if err != nil {
		return nil, err
	}
	prefix := ""
	if _, v1 := stat["total_inactive_file"]; v1 { // which has those of the groups below it apart
		prefix = "total_"
	}
	used := parseNumber(readFirst(l.Memory, "memory.current", "memory.usage_in_bytes"))
	cache := stat[prefix+"inactive_file"] + stat[prefix+"active_file"]
	return []float64{float64(l.MemoryBytes) - used + cache}, nil
}

// LowerLimit is the lower of two limits; 0 is none.
func LowerLimit[N cmp.Ordered](a, b N) N {
	return min(cmp.Or(a, b), cmp.Or(b, a))
}

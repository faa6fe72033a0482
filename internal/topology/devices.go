package topology

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
)

// Find tells the file system of an absolute path and the whole block devices under it: the drives
// behind partitions, LVM, device mapper and MD, and in a container those behind its overlay.
func (fs FS) Find(dir string) (FileSystem, error) { return fs.FindOf(File{Path: dir}) }

// FindOf is Find for a server's file, in the mounts of its process. The error is ErrHidden where
// these may not be read.
func (fs FS) FindOf(file File) (FileSystem, error) {
	dir, err := fs.Reach(file.Process, file.Path)
	if err != nil {
		return FileSystem{}, err
	}
	reader := os.Getpid()
	if file.Process != 0 && !fs.sharesMounts(file.Process) {
		reader = file.Process
		dir = fs.Inside(reader, dir)
	}
	mount, err := fs.mountOf(dir, reader)
	if err != nil {
		return FileSystem{}, err
	}
	found := FileSystem{
		MountPoint: mount.MountPoint,
		Type:       mount.FSType,
		Options:    mountOptions(mount),
	}

	if upper := mount.SuperOptions["upperdir"]; mount.FSType == "overlay" && upper != "" {
		// In a container the path is the outer machine's, which is seldom to be seen from inside.
		below, err := fs.Find(upper)
		if err != nil {
			return found, fmt.Errorf(
				"it lies on an overlay whose upper directory cannot be seen from here: %w", err)
		}
		found.Devices = below.Devices
		found.Volumes = below.Volumes
		return found, nil
	}

	devices := []string{filepath.Join(fs.Sys, "dev/block", mount.MajorMinorVer)}
	if mount.FSType == "zfs" {
		vdevs, err := zfsDevices(mount.Source)
		if err != nil {
			return found, err
		}
		devices = nil
		for _, name := range vdevs {
			devices = append(devices, filepath.Join(fs.Sys, "class/block", name))
		}
	} else if strings.HasPrefix(mount.MajorMinorVer, "0:") {
		// File systems over several devices (btrfs) have a separate number; the source then names
		// one of them, and the kernel lists all.
		source, _ := filepath.EvalSymlinks(mount.Source) // such as of /dev/mapper/vg-data
		device := filepath.Base(source)
		devices = []string{filepath.Join(fs.Sys, "class/block", device)}
		if ReadText(devices[0], "dev") == "" {
			return found, fmt.Errorf("no block device stands behind its %s file system (%s)",
				mount.FSType, mount.Source)
		}
		if one := Glob(fs.Sys, "fs/btrfs/*/devices", device); len(one) > 0 {
			devices = Glob(filepath.Dir(one[0]), "*")
		}
	}
	for _, device := range devices {
		_, drives, err := findUnder(device)
		if err != nil {
			return found, err
		}
		found.Volumes = append(found.Volumes, volumesIn(device)...)
		found.Devices = append(found.Devices, drives...)
	}
	slices.Sort(found.Devices)
	found.Devices = slices.Compact(found.Devices)
	return found, nil
}

// mountOf is the mount of a process that dir, an absolute path without symbolic links, lies on. Of
// mounts on one point the last hides the others.
func (fs FS) mountOf(dir string, process int) (*procfs.MountInfo, error) {
	pfs, err := procfs.NewFS(fs.Proc)
	if err != nil {
		return nil, err
	}
	mounts, err := pfs.GetProcMounts(process)
	if err != nil {
		return nil, err
	}
	var best *procfs.MountInfo
	for _, m := range mounts {
		// The kernel writes blanks and the like in octal.
		m.MountPoint = octal.Replace(m.MountPoint)
		if Within(dir, m.MountPoint) && (best == nil || len(m.MountPoint) >= len(best.MountPoint)) {
			best = m
		}
	}
	if best == nil {
		return nil, errors.New("no mount holds it")
	}
	return best, nil
}

var octal = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// mountOptions are the options of the mount and of its file system, without paths of overlays,
// which say nothing and are long.
func mountOptions(m *procfs.MountInfo) []string {
	var options []string
	for _, from := range []map[string]string{m.Options, m.SuperOptions} {
		for name, value := range from {
			if strings.HasSuffix(name, "dir") { // lowerdir, upperdir, workdir
				continue
			}
			if value != "" {
				name += "=" + value
			}
			options = append(options, name)
		}
	}
	slices.Sort(options)
	return slices.Compact(options)
}

// findUnder are the names of the devices that lie under the one with a directory, or a link to it,
// in /sys, which hands its requests to them, and of the drives at last: the device itself where
// nothing lies under it.
func findUnder(device string) (all, drives []string, err error) {
	dir, lower, err := directlyUnder(device)
	if err != nil {
		return nil, nil, err
	}
	if len(lower) == 0 {
		return nil, []string{filepath.Base(dir)}, nil
	}
	for _, device := range lower {
		deeper, last, err := findUnder(device)
		if err != nil {
			return nil, nil, err
		}
		all = append(append(all, filepath.Base(device)), deeper...)
		drives = append(drives, last...)
	}
	return all, drives, nil
}

// directlyUnder is the directory of a device in /sys, and those of the devices that it lies on.
func directlyUnder(device string) (dir string, lower []string, err error) {
	if dir, err = filepath.EvalSymlinks(device); err != nil {
		return "", nil, err
	}
	lower = Glob(dir, "slaves/*")
	if _, err := os.Stat(filepath.Join(dir, "partition")); err == nil {
		lower = []string{filepath.Dir(dir)}
	}
	return dir, lower, nil
}

// volumesIn are the uppermost devices of a stack that may do several I/Os for one of theirs.
func volumesIn(device string) (names []string) {
	dir, lower, _ := directlyUnder(device)
	if name := filepath.Base(dir); multiplying.MatchString(name) {
		return []string{name}
	}
	for _, device := range lower {
		names = append(names, volumesIn(device)...)
	}
	return names
}

// DrivesUnder are the drives that a device, named as in /sys/class/block, lies on at last: itself
// where nothing is under it.
func (fs FS) DrivesUnder(device string) ([]string, error) {
	_, drives, err := findUnder(filepath.Join(fs.Sys, "class/block", device))
	return drives, err
}

// CheckApart refuses devices of which one lies on another, whose requests would count twice, and
// partitions.
func (fs FS) CheckApart(devices []string) error {
	for _, upper := range devices {
		lower, _, err := findUnder(filepath.Join(fs.Sys, "class/block", upper))
		if errors.Is(err, os.ErrNotExist) {
			continue // one that is not there is refused when its counters are read
		}
		if err != nil {
			return err
		}
		for _, name := range lower {
			if slices.Contains(devices, name) {
				return fmt.Errorf(
					"%s lies on %s, so each of its requests would count twice: name one of the two",
					upper, name)
			}
		}
	}
	for _, d := range devices {
		dir, _ := filepath.EvalSymlinks(filepath.Join(fs.Sys, "class/block", d))
		if ReadText(dir, "partition") != "" {
			return fmt.Errorf(
				"%s is a partition, whose flushes the kernel counts with its drive's: name %s", d,
				filepath.Base(filepath.Dir(dir)))
		}
	}
	return nil
}

// Drives are all whole block devices of the machine: what to observe where nothing better is known.
func (fs FS) Drives() ([]string, error) {
	block, err := blockdevice.NewFS(fs.Proc, fs.Sys)
	if err != nil {
		return nil, err
	}
	names, err := block.SysBlockDevices()
	if err != nil {
		return nil, fmt.Errorf("list block devices: %w", err)
	}
	return DrivesAmong(names), nil
}

// Flushing is how the flushes of a drive stand among its writes, with the files in which its
// journals are counted; others is what holds where the journals of its file systems are not to be
// seen.
func (fs FS) Flushing(drive string, others Flushing) (journals []string, f Flushing) {
	queue := filepath.Join(fs.Sys, "block", drive, "queue")
	_, noRequests := os.Stat(filepath.Join(fs.Sys, "block", drive, "mq"))
	journals, all := fs.findJournals(drive)
	f.OfJournalWrite = 2
	if ReadText(queue, "fua") == "1" {
		f.OfJournalWrite = 1
	}
	switch {
	case ReadText(queue, "write_cache") == "write through":
		f.Through = true
	case noRequests != nil:
		f.Unknown = "it has a write-back cache and no request queue, as MD, device mapper " +
			"and multipath have, and each of these counts flushes in its own way: name " +
			"the drives below it"
	case !all:
		f.Unknown = others.Unknown
	}
	return journals, f
}

// findJournals are the files in which the kernel counts the journals' writes of the file systems on
// a drive or on its partitions; false where there may be others.
func (fs FS) findJournals(drive string) (files []string, all bool) {
	devices := []string{drive}
	for _, p := range Glob(fs.Sys, "block", drive, "*/partition") {
		devices = append(devices, filepath.Base(filepath.Dir(p)))
	}
	for _, d := range devices {
		// What lies on it, such as LVM, may have file systems of its own.
		if above := Glob(fs.Sys, "class/block", d, "holders/*"); len(above) > 0 {
			return nil, false
		}
		files = slices.Concat(files, Glob(fs.Proc, "fs/jbd2", d, "info"),
			Glob(fs.Proc, "fs/jbd2", d+"-*", "info"), Glob(fs.Sys, "fs/xfs", d, "stats/stats"))
	}
	proc, err := procfs.NewFS(fs.Proc)
	if err != nil {
		return nil, false
	}
	mounts, err := proc.GetProcMounts(os.Getpid())
	for _, m := range mounts {
		on := slices.Contains(devices, filepath.Base(m.Source))
		if on && !slices.Contains([]string{"ext3", "ext4", "xfs"}, m.FSType) {
			return nil, false
		}
	}
	return files, err == nil
}

// Glob are the files of a pattern, whose parts are those of a path; none where they cannot be read.
func Glob(path ...string) []string {
	files, _ := filepath.Glob(filepath.Join(path...)) // fails for malformed patterns only
	return files
}

// JournalWrites sums up what such files count: transactions of ext4's journal, each of which ends
// with one flushing write, and writes of XFS's log.
func JournalWrites(files []string) (sum float64) {
	for _, file := range files {
		text := ReadText(file)
		if filepath.Base(file) == "stats" {
			_, text, _ = strings.Cut("\n"+text, "\nlog ")
		}
		first, _, _ := strings.Cut(text, " ")
		n, err := strconv.ParseFloat(first, 64)
		if err != nil {
			return math.NaN()
		}
		sum += n
	}
	return sum
}

// DrivesAmong leaves out of block devices what is no physical drive: those made of others or of
// memory, and partitions.
func DrivesAmong(devices []string) []string {
	return slices.DeleteFunc(slices.Clone(devices), func(name string) bool {
		whole := partition.FindStringSubmatch(name)
		return NVMePath.MatchString(name) || virtual.MatchString(name) ||
			whole != nil && slices.Contains(devices, whole[1]+whole[2])
	})
}

// multiplying are devices that may do several I/Os of those below them for one of theirs, as RAID
// does for copies and parities.
var multiplying = regexp.MustCompile(`^(?:md|bcache)`)

var (
	// Linux's devices that hold no data themselves, or hold it in memory: what lies on others
	// counts there.
	virtual = regexp.MustCompile(`^(?:loop|ram|zram|dm-|md|bcache|drbd|zd|sr|fd)`)
	// Of nvme0n1p1, beside which nvme0n10 is a drive, the drive is nvme0n1; that of sda1 is sda.
	partition = regexp.MustCompile(`^(?:(.*\d)p|(.*\D))\d+$`)
)

// The kernel shows an NVMe drive that several controllers may reach as one drive, nvme0n1, and as a
// path for each controller, nvme0c0n1, which takes part of the same requests. Since Linux 6.4 both
// count them, before only the paths do.
var (
	NVMeDrive = regexp.MustCompile(`^nvme\d+n\d+$`)
	NVMePath  = regexp.MustCompile(`^(nvme\d+)c\d+(n\d+)$`)
)

// Within says whether a path lies in a directory, or is it.
func Within(path, dir string) bool {
	return dir == "/" || path == dir || strings.HasPrefix(path, dir+"/")
}

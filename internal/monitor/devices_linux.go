package monitor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// Find tells the file system of a directory and the whole block devices under it: the drives behind partitions, LVM,
// device mapper and MD, and in a container those behind its overlay.
func (fs FS) Find(dir string) (FileSystem, error) {
	found, err := fs.find(dir)
	if err != nil {
		return found, fmt.Errorf("find the block devices under %s: %w", dir, err)
	}
	return found, nil
}

func (fs FS) find(dir string) (FileSystem, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return FileSystem{}, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return FileSystem{}, err
	}
	mount, err := fs.mountOf(dir)
	if err != nil {
		return FileSystem{}, err
	}
	found := FileSystem{MountPoint: mount.MountPoint, Type: mount.FSType, Options: mountOptions(mount)}

	if upper := mount.SuperOptions["upperdir"]; mount.FSType == "overlay" && upper != "" {
		// In a container the path is the outer machine's, which is seldom to be seen from inside.
		below, err := fs.find(upper)
		if err != nil {
			return found, fmt.Errorf("it lies on an overlay whose upper directory cannot be seen from here: %w", err)
		}
		found.Devices = below.Devices
		return found, nil
	}

	number := mount.MajorMinorVer
	if strings.HasPrefix(number, "0:") {
		// File systems over several devices (btrfs) have a separate number; the source then names one of their devices.
		device, _ := filepath.EvalSymlinks(mount.Source) // such as of /dev/mapper/vg-data
		number = line(filepath.Join(fs.Sys, "class/block", filepath.Base(device), "dev"))
		if number == "" {
			return found, fmt.Errorf("no block device stands behind its %s file system (%s)",
				mount.FSType, mount.Source)
		}
	}
	_, drives, err := under(filepath.Join(fs.Sys, "dev/block", number))
	slices.Sort(drives)
	found.Devices = slices.Compact(drives)
	return found, err
}

// mountOf is the mount that dir, an absolute path without symbolic links, lies on. Of mounts on one point the last
// hides the others.
func (fs FS) mountOf(dir string) (*procfs.MountInfo, error) {
	pfs, err := procfs.NewFS(fs.Proc)
	if err != nil {
		return nil, err
	}
	mounts, err := pfs.GetProcMounts(os.Getpid())
	if err != nil {
		return nil, err
	}
	var best *procfs.MountInfo
	for _, m := range mounts {
		// The kernel writes blanks and the like in octal.
		m.MountPoint = octal.Replace(m.MountPoint)
		if within(dir, m.MountPoint) && (best == nil || len(m.MountPoint) >= len(best.MountPoint)) {
			best = m
		}
	}
	if best == nil {
		return nil, errors.New("no mount holds it")
	}
	return best, nil
}

var octal = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// mountOptions are the options of the mount and of its file system, without paths of overlays, which say nothing and
// are long.
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

// under are the names of the devices that lie under the one with a directory, or a link to it, in /sys, which hands its
// requests to them, and of the drives at last: the device itself where nothing lies under it.
func under(device string) (all, drives []string, err error) {
	dir, err := filepath.EvalSymlinks(device)
	if err != nil {
		return nil, nil, err
	}
	slaves, err := os.ReadDir(filepath.Join(dir, "slaves"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, err
	}
	var lower []string
	for _, s := range slaves {
		lower = append(lower, filepath.Join(dir, "slaves", s.Name()))
	}
	if _, err := os.Stat(filepath.Join(dir, "partition")); err == nil {
		lower = []string{filepath.Dir(dir)}
	}
	if len(lower) == 0 {
		return nil, []string{filepath.Base(dir)}, nil
	}
	for _, device := range lower {
		deeper, last, err := under(device)
		if err != nil {
			return nil, nil, err
		}
		all = append(append(all, filepath.Base(device)), deeper...)
		drives = append(drives, last...)
	}
	return all, drives, nil
}

// apart refuses devices of which one lies on another: each request would count twice.
func (fs FS) apart(devices []string) error {
	for _, upper := range devices {
		lower, _, err := under(filepath.Join(fs.Sys, "class/block", upper))
		if errors.Is(err, os.ErrNotExist) {
			continue // one that is not there is refused when its counters are read
		}
		if err != nil {
			return err
		}
		for _, name := range lower {
			if slices.Contains(devices, name) {
				return fmt.Errorf("%s lies on %s, so each of its requests would count twice: name one of the two",
					upper, name)
			}
		}
	}
	return nil
}

// Drives are all whole block devices of the machine: what to observe where nothing better is known.
func (fs FS) Drives() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(fs.Sys, "block"))
	if err != nil {
		return nil, fmt.Errorf("list block devices: %w", err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return drivesAmong(names), nil
}

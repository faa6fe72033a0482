//go:build unix

// Package diskspace says how much room a file system has.
package diskspace

import (
	"path/filepath"
	"syscall"
)

// Free is how many bytes of the file system of dir this user may still fill.
func Free(dir string) (n int64, ok bool) {
	var s syscall.Statfs_t
	err := syscall.Statfs(dir, &s)
	return int64(s.Bavail) * int64(s.Bsize), err == nil
}

// Size is how many bytes the file system of dir has.
func Size(dir string) (n int64, ok bool) {
	var s syscall.Statfs_t
	err := syscall.Statfs(dir, &s)
	return int64(s.Blocks) * int64(s.Bsize), err == nil
}

// FreeOf is how many bytes of the file systems of some directories this user may still fill, each
// file system counted once; false where one of them cannot be looked at.
func FreeOf(dirs []string) (n int64, ok bool) {
	seen := map[uint64]bool{}
	for _, dir := range dirs {
		device, known := deviceOf(dir)
		free, found := Free(dir)
		if !known || !found {
			return 0, false
		}
		if !seen[device] {
			seen[device] = true
			n = n + free
		}
	}
	return n, len(dirs) > 0
}

// MountPoint is where the file system of a directory is mounted; false where that cannot be told.
func MountPoint(dir string) (string, bool) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", false
	}
	return MountOf(dir)
}

// MountOf is MountPoint of a path without links, but for that to another process's root.
func MountOf(dir string) (string, bool) {
	device, ok := deviceOf(dir)
	for ok && dir != "/" {
		above, known := deviceOf(filepath.Dir(dir))
		if !known || above != device {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir, ok
}

func deviceOf(dir string) (uint64, bool) {
	var s syscall.Stat_t
	err := syscall.Stat(dir, &s)
	return uint64(s.Dev), err == nil
}

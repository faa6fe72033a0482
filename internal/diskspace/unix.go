//go:build unix

// Package diskspace says how much room a file system has.
package diskspace

import "syscall"

// Free is how many bytes of the file system of dir this user may still fill.
func Free(dir string) (n int64, ok bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

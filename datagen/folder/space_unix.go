//go:build unix

package folder

import "syscall"

// freeBytes is how many bytes of the file system of dir this user may still fill.
func freeBytes(dir string) (n int64, ok bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

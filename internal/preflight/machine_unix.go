//go:build unix

package preflight

import "golang.org/x/sys/unix"

// writable is why this user may not write into a directory; it writes nothing.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// readOpenFiles is how many files and connections this process may have at once.
func readOpenFiles() (n uint64, known bool) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, false
	}
	return uint64(limit.Cur), true // Go has raised it to what may be
}

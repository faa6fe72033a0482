package device

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// claim refuses a block device that is in use or that has partitions, and says how large it is.
func claim(device string) (bytes int64, err error) {
	path, err := filepath.EvalSymlinks(device)
	if err != nil {
		return 0, err
	}
	stat, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if stat.Mode()&os.ModeDevice == 0 || stat.Mode()&os.ModeCharDevice != 0 {
		return 0, fmt.Errorf("%s is not a block device", device)
	}
	parts, _ := filepath.Glob(filepath.Join("/sys/class/block", filepath.Base(path), "*", "partition"))
	if len(parts) > 0 {
		return 0, fmt.Errorf("%s has partitions: not touched; wipe it first (wipefs --all %s)", device, device)
	}
	// O_EXCL: the kernel refuses what is mounted, swap, or part of a volume.
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_EXCL, 0)
	if errors.Is(err, syscall.EBUSY) {
		return 0, fmt.Errorf("%s is mounted, used for swap, or part of a volume: not touched", device)
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.Seek(0, io.SeekEnd)
}

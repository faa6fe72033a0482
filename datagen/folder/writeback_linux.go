package folder

import (
	"os"

	"golang.org/x/sys/unix"
)

// writeBack has the kernel begin to write bytes of a file to the disk, and waits for those before: at most two such spans
// wait in memory, so that the rate that is shown is the disk's from the beginning, and the fsync in the end finds little to do.
// It may fail where a file system has no such thing; the fsync does the work then.
func writeBack(f *os.File, from, n int64) {
	unix.SyncFileRange(int(f.Fd()), from, n, unix.SYNC_FILE_RANGE_WRITE)
	if from >= n {
		unix.SyncFileRange(int(f.Fd()), from-n, n, unix.SYNC_FILE_RANGE_WAIT_BEFORE)
	}
}

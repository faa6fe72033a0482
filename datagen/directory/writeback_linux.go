package directory

import (
	"os"

	"golang.org/x/sys/unix"
)

// writeBack has the kernel begin to write bytes of a file to the disk, and waits for those before:
// at most two such spans wait in memory, so that the rate that is shown is the disk's from the
// beginning, and the fsync in the end finds little to do. The memory of what is written is given
// back, and serves for what comes next: fresh memory costs more than the copy into it, in a virtual
// machine several times as much, and a dataset would drive out of memory what others have there. It
// may fail where a file system has no such thing; the fsync does the work then.
func writeBack(f *os.File, from, n int64) {
	unix.SyncFileRange(int(f.Fd()), from, n, unix.SYNC_FILE_RANGE_WRITE)
	if from >= n {
		unix.SyncFileRange(int(f.Fd()), from-n, n, unix.SYNC_FILE_RANGE_WAIT_BEFORE)
		unix.Fadvise(int(f.Fd()), from-n, n, unix.FADV_DONTNEED)
	}
}

package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"ds2/internal/device/devicetest"
)

// After Commit the kernel holds no page of the file that is not on the disk. Without the fsync a
// page stays dirty for seconds.
func TestCommitSyncs(t *testing.T) {
	const size = 1 << 20
	dirty := func(path string) uint64 {
		t.Helper()
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		var pages unix.Cachestat_t
		err = unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{Len: size}, &pages, 0)
		if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
			t.Skip("the kernel has no cachestat (Linux 6.5), so what is on the disk is hidden")
		}
		require.NoError(t, err)
		return pages.Dirty + pages.Writeback
	}
	dir := devicetest.TempDir(t)
	unsynced := filepath.Join(dir, "unsynced")
	require.NoError(t, os.WriteFile(unsynced, make([]byte, size), 0o644))
	if dirty(unsynced) == 0 {
		t.Skip("the file system of " + dir + " keeps no dirty pages, as one in memory does not")
	}
	path := filepath.Join(dir, "a")
	require.NoError(t, Write(path, text(strings.Repeat("x", size))))
	assert.EqualValues(t, 0, dirty(path), "pages of a committed file are not on the disk")
}

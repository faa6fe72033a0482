package folder

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// smallDisk is a file system of its own, in memory, of so many bytes.
func smallDisk(t *testing.T, bytes int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Skip("only root can mount a small disk: ", err)
	}
	t.Cleanup(func() {
		assert.NoError(t, syscall.Unmount(dir, 0))
	})
	return dir
}

// enlarge makes room on a small disk.
func enlarge(t *testing.T, dir string, bytes int) {
	t.Helper()
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", bytes)))
}

package devicetest

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Small is a file system in memory, of a size such as 24m, that belongs to the owner of a file, such as a server's
// directory; grow makes it larger.
func Small(t *testing.T, size, owner string) (dir string, grow func(size string)) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ds2-small-drive-") // where other users may go
	require.NoError(t, err)
	t.Cleanup(func() { os.Remove(dir) })
	info, err := os.Stat(owner)
	require.NoError(t, err)
	user := info.Sys().(*syscall.Stat_t)
	if err := syscall.Mount("ds2", dir, "tmpfs", 0, "size="+size); errors.Is(err, syscall.EPERM) {
		t.Skip("only root can mount a small drive: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	require.NoError(t, errors.Join(os.Chown(dir, int(user.Uid), int(user.Gid)), os.Chmod(dir, 0o700)))
	return dir, func(size string) {
		require.NoError(t, syscall.Mount("ds2", dir, "tmpfs", syscall.MS_REMOUNT, "size="+size))
	}
}

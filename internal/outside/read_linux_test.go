package outside

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestFileThatDoesNotAnswer has a lease on a file keep whoever opens it waiting, as a file system
// does whose server is gone: reading ends with its context.
func TestFileThatDoesNotAnswer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	file, err := os.Create(path)
	require.NoError(t, err)
	defer file.Close() // and with it the lease
	_, err = unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
	if err != nil {
		t.Skip("the file system gives no leases: ", err)
	}
	asked := errors.New("asked to stop")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, asked)
	defer cancel()
	_, err = ReadFile(ctx, path, MaxText)
	require.ErrorIs(t, err, asked)
}

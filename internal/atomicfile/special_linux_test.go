package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSpecial writes into what is no regular file, such as /dev/null, instead of replacing it.
func TestSpecial(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(pipe, link))
	for _, path := range []string{pipe, link} {
		path, err := Follow(path)
		require.NoError(t, err)
		got := make(chan string)
		go func() {
			text, err := os.ReadFile(pipe)
			assert.NoError(t, err)
			got <- string(text)
		}()
		require.NoError(t, Write(path, text("new")))
		require.Equal(t, "new", <-got)
	}
	f, err := os.OpenFile(pipe, os.O_RDWR, 0) // which waits for no other end
	require.NoError(t, err)
	defer f.Close()
	broken := errors.New("broken")
	require.ErrorIs(t, Write(pipe, func(io.Writer) error { return broken }), broken)
	info, err := os.Lstat(pipe)
	require.NoError(t, err)
	assert.Equal(t, fs.ModeNamedPipe, info.Mode().Type())
}

package outside

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReadFile refuses what would not end, and takes a file as editors of Windows write it.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	read := func() (string, error) {
		text, err := ReadFile(t.Context(), path, MaxText)
		return string(text), err
	}
	for _, written := range []string{"é", "\ufeffé", "\xff\xfe\xe9\x00"} {
		require.NoError(t, os.WriteFile(path, []byte(written), 0o600))
		got, err := read()
		require.NoError(t, err)
		assert.Equal(t, "é", got, "%q", written)
	}
	require.NoError(t, os.Truncate(path, MaxText+1))
	_, err := read()
	require.ErrorContains(t, err, path+" has more than 1048576 bytes")

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink("/dev/zero", path))
	_, err = read()
	require.ErrorContains(t, err, path+" is not a regular file")

	ended, end := context.WithCancelCause(t.Context())
	asked := errors.New("asked to stop")
	end(asked)
	_, err = ReadFile(ended, filepath.Join(dir, "none"), MaxText)
	assert.True(t, errors.Is(err, asked) || errors.Is(err, os.ErrNotExist), err)
}

// TestOutput bounds what a command prints, and what an error quotes of it.
func TestOutput(t *testing.T) {
	for line, want := range map[string]string{ // with - before an error
		"echo 42; echo said >&2": "42\n",
		"echo why >&2; exit 3":   "-exit status 3: why",
		"exit 3":                 "-exit status 3: it said nothing",
		"cat /dev/zero":          "-it printed more than 1048576 bytes",
	} {
		got, err := Output(t.Context(), line)
		if err != nil {
			got = "-" + err.Error()
		}
		assert.Equal(t, want, got, line)
	}
	_, err := Output(t.Context(), "head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 3")
	require.ErrorContains(t, err, "exit status 3: xxx")
	assert.Less(t, strings.Count(err.Error(), "x"), 1000)
}

package slowdrive

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDrive: what is written is read back, also by the directory below; reads, writes of data and flushes take at least
// as long as they should, and are counted, those of the log apart.
func TestDrive(t *testing.T) {
	under, at := t.TempDir(), t.TempDir()
	d, err := Mount(under, at)
	if err != nil {
		t.Skip(err)
	}
	defer func() { require.NoError(t, d.Unmount()) }()
	open, err := exec.Command("ls", "-l", "/proc/self/fd").Output()
	require.NoError(t, err)
	require.NotContains(t, string(open), "/dev/fuse", "a program that outlives this one would keep the drive")
	require.NoError(t, os.WriteFile(filepath.Join(at, "file"), make([]byte, 8192), 0o600))
	f, err := os.OpenFile(filepath.Join(at, "file"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteAt([]byte("text"), 100)
	require.NoError(t, err)
	below, err := os.ReadFile(filepath.Join(under, "file"))
	require.NoError(t, err)
	require.Equal(t, "text", string(below[100:104]))
	require.NoError(t, os.Mkdir(filepath.Join(at, LogDir), 0o700))
	log, err := os.Create(filepath.Join(at, LogDir, "segment"))
	require.NoError(t, err)
	defer log.Close()
	write := func() error { _, err := f.WriteAt(make([]byte, 4096), 0); return err }
	read := func() error { _, err := f.ReadAt(make([]byte, 4096), 0); return err }
	const delay = 30 * time.Millisecond
	for _, c := range []struct {
		why    string
		delays Delays
		do     func() error
		least  time.Duration
	}{
		{"a read", Delays{Read: delay}, read, delay},
		{"and again: no page cache has it", Delays{Read: delay}, read, delay},
		{"a flush", Delays{Flush: delay}, f.Sync, delay},
		{"a write of data", Delays{Write: delay}, write, delay},
		{"one read at once", Delays{Read: delay, AtOnce: 1}, func() error {
			other := make(chan error)
			go func() { other <- read() }()
			err := read()
			if e := <-other; e != nil {
				return e
			}
			return err
		}, 2 * delay},
	} {
		d.Set(c.delays)
		begin := time.Now()
		require.NoError(t, c.do(), c.why)
		assert.GreaterOrEqual(t, time.Since(begin), c.least, "%s took", c.why)
	}
	d.Set(Delays{Write: time.Hour})
	_, err = log.WriteAt(make([]byte, 512), 0)
	require.NoError(t, err, "a write of the log does not wait")
	d.Set(Delays{})
	before, beforeLog := d.Counts()
	require.NoError(t, errors.Join(read(), read(), write()))
	after, ofLog := d.Counts()
	for i, want := range []float64{2, 1, 8192, 4096} {
		require.Equal(t, want, after[i]-before[i], "count %d", i)
	}
	require.Greater(t, after[4], 2*delay.Seconds(), "seconds that reads took")
	require.Equal(t, [6]float64{0, 1, 0, 512, 0, ofLog[5]}, ofLog)
	require.Equal(t, beforeLog, ofLog)
	dir, err := os.Open(at)
	require.NoError(t, err)
	require.NoError(t, dir.Sync(), "of a directory")
	require.NoError(t, dir.Close())
}

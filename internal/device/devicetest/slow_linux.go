package devicetest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/slowdrive"
)

// Slow is a drive each of whose reads and writes takes a time of its own, however many are under way: the kernel counts
// them as it counts those of any drive. Its image lies in a directory that waits.
type Slow struct {
	Drive
	waits *slowdrive.Drive
}

// Delay has each read and each write or flush from now on take as long.
func (s *Slow) Delay(read, write time.Duration) {
	s.waits.Set(slowdrive.Delays{Read: read, Write: write, Flush: write})
}

// MountSlow makes a slow drive as Mount makes another. It is fast until Delay.
func MountSlow(t *testing.T, fileSystem, on string, bytes int64) *Slow {
	t.Helper()
	under := room(t, on, bytes)
	at := filepath.Join(under, "waits")
	require.NoError(t, os.Mkdir(at, 0o755))
	waits, err := slowdrive.Mount(filepath.Join(under, "below"), at)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { require.NoError(t, waits.Unmount()) })
	s := &Slow{mount(t, fileSystem, under, filepath.Join(at, imageName), "--direct-io=on"), waits}
	t.Cleanup(func() { s.Delay(0, 0) }) // before it is unmounted
	return s
}

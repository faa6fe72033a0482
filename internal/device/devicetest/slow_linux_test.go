package devicetest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestSlow: the kernel counts for each read of a slow drive the time that it is to take, also where several are under way.
func TestSlow(t *testing.T) {
	d := MountSlow(t, "ext4", memory(t), 64<<20)
	file := filepath.Join(d.Dir, "file")
	const blocks, size = 64, 8192
	require.NoError(t, os.WriteFile(file, make([]byte, blocks*size), 0o644))
	syscall.Sync()
	const delay = 20 * time.Millisecond
	d.Delay(delay, 0)
	before := d.Counts(t)
	done := make(chan error)
	const atOnce = 4
	for first := range atOnce {
		go func() {
			done <- func() error {
				f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_DIRECT, 0)
				if err != nil {
					return err
				}
				defer f.Close()
				for i := first; i < blocks; i += atOnce {
					if _, err := syscall.Pread(int(f.Fd()), aligned(size), int64(i*size)); err != nil {
						return err
					}
				}
				return nil
			}()
		}()
	}
	for range atOnce {
		require.NoError(t, <-done)
	}
	d.Delay(0, 0)
	after := d.Counts(t)
	reads, seconds := after.Reads-before.Reads, after.ReadSeconds-before.ReadSeconds
	t.Logf("%.0f reads of %.1f ms", reads, 1000*seconds/reads)
	if mean := seconds / reads; reads < blocks || mean < delay.Seconds() || mean > 2*delay.Seconds() {
		t.Errorf("%.0f reads of %.4f s", reads, mean)
	}
}

// aligned is a buffer as direct reads take them.
func aligned(size int) []byte {
	b := make([]byte, 2*size)
	skip := size - int(uintptr(unsafe.Pointer(&b[0]))%uintptr(size))
	return b[skip : skip+size]
}

// memory is a directory whose drives nothing holds back, where the machine has one.
func memory(t *testing.T) string {
	const dir = "/dev/shm"
	if _, err := os.Stat(dir); err != nil {
		return t.TempDir()
	}
	return dir
}

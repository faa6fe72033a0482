package devicetest

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSlow: the kernel counts for each read of a slow drive the time that it is to take, also where several are under
// way, and no longer than those who read waited.
func TestSlow(t *testing.T) {
	d := MountSlow(t, "ext4", Memory(t), 64<<20)
	file := filepath.Join(d.Dir, "file")
	const blocks, size = 64, 8192
	require.NoError(t, os.WriteFile(file, make([]byte, blocks*size), 0o644))
	syscall.Sync()
	const delay = 20 * time.Millisecond
	d.Delay(delay, 0)
	before := d.Counts(t)
	done := make(chan error)
	var waited atomic.Int64 // nanoseconds, of all
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
					begin := time.Now()
					if _, err := syscall.Pread(int(f.Fd()), Aligned(size), int64(i*size)); err != nil {
						return err
					}
					waited.Add(int64(time.Since(begin)))
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
	if waited := time.Duration(waited.Load()).Seconds(); reads < blocks || seconds < reads*delay.Seconds() || seconds > waited+.01 {
		t.Errorf("%.0f reads of together %.3f s, for which %.3f s were waited", reads, seconds, waited)
	}
}

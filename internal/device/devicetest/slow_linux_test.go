package devicetest

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
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
	var readers errgroup.Group
	var waited atomic.Int64 // nanoseconds, of all
	const atOnce = 4
	for first := range atOnce {
		readers.Go(func() error {
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
		})
	}
	require.NoError(t, readers.Wait())
	d.Delay(0, 0)
	after := d.Counts(t)
	reads, seconds := after.Reads-before.Reads, after.ReadSeconds-before.ReadSeconds
	t.Logf("%.0f reads of %.1f ms", reads, 1000*seconds/reads)
	require.GreaterOrEqual(t, reads, float64(blocks))
	require.GreaterOrEqual(t, seconds, reads*delay.Seconds())
	require.LessOrEqual(t, seconds, time.Duration(waited.Load()).Seconds()+.01, "longer than was waited")
}

package device

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
)

// The limit that is found is that of the drive, each of whose reads and writes takes a time: a log write is a write and
// a flush, as the device's own counters say. A busy machine has a drive do less, never more: the rates are what the
// response times allow and the device counted.
func TestSlowDrive(t *testing.T) {
	needFio(t)
	drive := devicetest.MountSlow(t, "ext4", devicetest.Memory(t), 64<<20)
	const stage, delay, depth = 2 * time.Second, 10 * time.Millisecond, 8
	var slowed, before devicetest.Counts
	var begun time.Time
	progress := func(what string, _ time.Duration) {
		switch {
		case strings.HasPrefix(what, "random reads"): // what comes before is not held back
			drive.Delay(delay, delay)
			slowed = drive.Counts(t)
		case what == "log writes":
			before, begun = drive.Counts(t), time.Now()
		}
	}
	r, err := Run(t.Context(), Options{
		Dir: drive.Dir, FileBytes: 16 << 20, StageTime: stage, Depths: []int{depth}, Progress: progress,
	})
	require.NoError(t, err)
	after, took := drive.Counts(t), time.Since(begun)
	most, writes, flushes := r.MaxReads(), after.Writes-before.Writes, after.Flushes-before.Flushes
	t.Logf("reads %+v, log writes %+v, while the device counted %.0f writes, of which %.0f flushes",
		r.Reads, r.Log, writes, flushes)
	assert.GreaterOrEqual(t, before.ReadSeconds-slowed.ReadSeconds, (before.Reads-slowed.Reads)*delay.Seconds())
	assert.InEpsilon(t, most, r.Curve().ReadsAt(1), 1e-9, "reads a second at any latency, and at most")
	assert.InEpsilon(t, 2, writes/flushes, 0.1, "a log write is a write and a flush")
	assertEmpty(t, drive.Dir)
	assert.LessOrEqual(t, most, 1.1*depth/max(delay.Seconds(), r.Reads[0].Mean), "reads")
	assert.LessOrEqual(t, r.Log.IOPS, 1.1/max(2*delay.Seconds(), r.Log.Mean), "log writes")
	assert.LessOrEqual(t, r.Log.IOPS*stage.Seconds(), 1.1*flushes)
	// With fio's start and its time to ramp up.
	assert.GreaterOrEqual(t, r.Log.IOPS, flushes/took.Seconds()/2)
}

// A drive of its own is preconditioned and measured whole; one in use is not touched.
func TestBlockDevice(t *testing.T) {
	needFio(t)
	image := filepath.Join(t.TempDir(), "image")
	require.NoError(t, os.WriteFile(image, make([]byte, 16<<20), 0o644))
	loop := devicetest.Attach(t, image).Path
	o := Options{
		Device: loop, StageTime: time.Second, RoundTime: 100 * time.Millisecond, Precondition: true, Depths: []int{4},
	}
	r, err := Run(t.Context(), o)
	require.NoError(t, err)
	assert.EqualValues(t, 16<<20, r.Bytes)
	assert.Len(t, r.Reads, 1)
	assert.Len(t, r.Preconditioning.Sequential, 2)
	assert.GreaterOrEqual(t, len(r.Preconditioning.Rounds), steadyRounds)
	busy, err := os.OpenFile(loop, os.O_RDWR|syscall.O_EXCL, 0)
	require.NoError(t, err)
	defer busy.Close()
	_, err = Run(t.Context(), o)
	assert.Error(t, err, "a device in use was overwritten")
}

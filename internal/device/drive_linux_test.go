package device

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/diskspace"
	"ds2/internal/nightly"
)

// The limit that is found is that of the drive, which is held to a number of reads and writes a
// second: a log write is a write and a flush, as the device's own counters say. A busy machine has
// a drive do less, never more.
func TestSlowDrive(t *testing.T) {
	needFio(t)
	drive := devicetest.MountSlow(t, "ext4", "/dev/shm", 64<<20)
	// So few that a caller who waits for a CPU, too, waits for the drive much longer.
	const stage, most, depth = 2 * time.Second, 100, 8
	var held, mixed, before devicetest.Counts
	progress := func(what string, _ time.Duration) {
		switch {
		case strings.HasPrefix(what, "random reads"): // what comes before is not held back
			drive.Hold(t, most, most)
			held = drive.Counts(t)
		case strings.HasPrefix(what, "70 % reads"):
			mixed = drive.Counts(t)
		case what == "log writes":
			before = drive.Counts(t)
		}
	}
	r, err := Run(t.Context(), Options{
		Dir:       drive.Dir,
		FileBytes: 16 << 20,
		StageTime: stage,
		Depths:    []int{depth},
		Progress:  progress,
	})
	require.NoError(t, err)
	after := drive.Counts(t)
	writes := after.Writes - before.Writes
	flushes := after.Flushes - before.Flushes
	t.Logf("reads %+v, log writes %+v, while the device counted %.0f writes, of which %.0f flushes",
		r.Reads, r.Log, writes, flushes)
	assert.LessOrEqual(t, r.MaxReads(), 1.2*most, "with a burst")
	assert.InEpsilon(
		t,
		r.MaxReads(),
		r.ReadsAt(1),
		1e-9,
		"reads a second at any latency, and at most",
	)
	assert.InEpsilon(t, depth/r.MaxReads(), r.Reads[0].Mean, 0.2, "by Little's law")
	assert.GreaterOrEqual(
		t,
		(mixed.ReadSeconds-held.ReadSeconds)/(mixed.Reads-held.Reads),
		r.Reads[0].Mean/2,
	)
	assert.InEpsilon(t, 2, writes/flushes, 0.1, "a log write is a write and a flush")
	assert.LessOrEqual(t, r.Log.IOPS, 1.2*most, "log writes")
	assert.LessOrEqual(t, r.Log.IOPS*stage.Seconds(), 1.1*flushes)
	assert.Greater(t, r.Log.P99, r.Log.Mean, "of what a commit waits for, as the mean is")
	assert.Equal(t, drive.Name, r.Machine.Drives[0].Name)
	assert.InEpsilon(t, 1, r.Log.IOPS*r.Log.Mean, 0.1, "one at a time")
	assertEmpty(t, drive.Dir)
}

// What would be overwritten or not fit is refused, and nothing is left behind.
func TestRefusals(t *testing.T) {
	needFio(t)
	dir := devicetest.TempDir(t)
	small := Options{Dir: dir, FileBytes: 16 << 20, StageTime: time.Second}
	free, ok := diskspace.Free(dir)
	if !ok {
		t.Skip("the free space is unknown")
	}
	large := small
	large.FileBytes = free
	_, err := Run(t.Context(), large)
	assert.ErrorContains(t, err, "bytes free", "no room")
	ctx, cancel := context.WithCancel(t.Context())
	stopped := small
	stopped.Progress = func(what string, _ time.Duration) {
		if strings.HasPrefix(what, "random reads") {
			cancel()
		}
	}
	_, err = Run(ctx, stopped)
	assert.ErrorIs(t, err, context.Canceled, "interrupted")
	assertEmpty(t, dir)
	mine := filepath.Join(dir, fileName)
	require.NoError(t, os.WriteFile(mine, []byte("mine"), 0o644))
	_, err = Run(t.Context(), small)
	assert.ErrorContains(t, err, mine+" exists", "the file exists")
	text, err := os.ReadFile(mine)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(text))
	for device, want := range map[string]string{
		mine: "not a block device", "/dev/null": "not a block device", filepath.Join(dir, "none"): "no such file",
	} {
		_, err := Run(t.Context(), Options{Device: device, StageTime: time.Second})
		assert.ErrorContains(t, err, want, device)
	}
}

// TestMemoryIsNoDrive: a directory in memory is refused, and nothing is left in it.
func TestMemoryIsNoDrive(t *testing.T) {
	needFio(t)
	dir, _ := devicetest.Small(t, "64m", t.TempDir())
	_, err := Run(t.Context(), Options{Dir: dir, FileBytes: 16 << 20, StageTime: time.Second})
	assert.ErrorContains(t, err, "lies in memory (tmpfs)")
	assertEmpty(t, dir)
}

// An unused drive is preconditioned and measured whole; one in use is not touched.
func TestBlockDevice(t *testing.T) {
	nightly.Long(t, "measures a drive several times")
	needFio(t)
	image := filepath.Join(t.TempDir(), "image")
	require.NoError(t, os.WriteFile(image, make([]byte, 16<<20), 0o644))
	loop := devicetest.Attach(t, image).Path
	o := Options{
		Device:       loop,
		StageTime:    time.Second,
		RoundTime:    100 * time.Millisecond,
		Precondition: true,
		Depths:       []int{4},
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

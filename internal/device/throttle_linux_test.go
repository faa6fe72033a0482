package device

import (
	"fmt"
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

// throttle holds this process and its children to limits of a drive, named as the files of the cgroup are; the
// functions that it gives set and lift them, so that what comes before is not held back.
func throttle(t *testing.T, number string, limits map[string]int) (begin, end func()) {
	t.Helper()
	const root = "/sys/fs/cgroup/blkio"
	group := filepath.Join(root, fmt.Sprintf("ds2-device-test-%d", os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skip("a drive is held back by a cgroup (version 1), which only root can make: ", err)
	}
	write := func(group, file, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(group, file), []byte(text), 0))
	}
	t.Cleanup(func() {
		write(root, "cgroup.procs", fmt.Sprint(os.Getpid()))
		assert.NoError(t, syscall.Rmdir(group))
	})
	write(group, "cgroup.procs", fmt.Sprint(os.Getpid()))
	hold := func(factor int) func() {
		return func() {
			for file, limit := range limits {
				write(group, "blkio.throttle."+file, fmt.Sprintf("%s %d", number, factor*limit))
			}
		}
	}
	return hold(1), hold(0)
}

// The limit that is found is that of the drive, at two speeds: random reads are held back by their number, and log
// writes by their bytes, which a flush has none of. Where a drive counts a flush as a request too, it does half as many
// log writes as requests: the device's own counters say that each is one write and one flush. A busy machine gives a
// drive less than its limit, never more: there the rates are what the response times allow and the device counted.
func TestThrottledDrive(t *testing.T) {
	needFio(t)
	drive := devicetest.Mount(t, devicetest.Memory(t), 64<<20)
	const stage = 2 * time.Second
	const reads, bytes, requests = "read_iops_device", "write_bps_device", "write_iops_device"
	for _, c := range []struct {
		limits           map[string]int
		reads, logWrites float64
	}{
		{map[string]int{reads: 300, bytes: 120 * BlockBytes}, 300, 120},
		{map[string]int{reads: 600, requests: 120}, 600, 60},
	} {
		t.Run(fmt.Sprint(c.limits), func(t *testing.T) {
			begin, end := throttle(t, drive.Number, c.limits)
			for quiet, try := false, 1; !quiet && try <= 3; try++ {
				var before devicetest.Counts
				var begun time.Time
				progress := func(what string, _ time.Duration) {
					switch {
					case strings.HasPrefix(what, "random reads"):
						begin()
					case what == "log writes":
						before, begun = drive.Counts(t), time.Now()
					}
				}
				r, err := Run(t.Context(), Options{
					Dir: drive.Dir, FileBytes: 16 << 20, StageTime: stage, Depths: []int{32}, Progress: progress,
				})
				require.NoError(t, err)
				after, took := drive.Counts(t), time.Since(begun)
				end()
				most, writes, flushes := r.MaxReads(), after.Writes-before.Writes, after.Flushes-before.Flushes
				t.Logf("reads %+v, log writes %+v, while the device counted %.0f writes, of which %.0f flushes",
					r.Reads, r.Log, writes, flushes)
				assert.InEpsilon(t, most, r.Curve().ReadsAt(1), 1e-9, "reads a second at any latency, and at most")
				assert.InEpsilon(t, 2, writes/flushes, 0.1, "a log write is a write and a flush")
				assertEmpty(t, drive.Dir)
				assert.LessOrEqual(t, most, 1.1*c.reads, "reads")
				assert.LessOrEqual(t, r.Log.IOPS, 1.1*c.logWrites, "log writes")
				assert.LessOrEqual(t, r.Log.IOPS*stage.Seconds(), 1.1*flushes)
				counted := flushes / took.Seconds() // with fio's start and its time to ramp up
				assert.GreaterOrEqual(t, r.Log.IOPS, counted/2)
				if p := r.Reads[0]; p.IOPS > 1.1*float64(p.Depth)/p.Mean || r.Log.IOPS > 1.1/r.Log.Mean {
					t.Errorf("reads %+v, log writes %+v: the response times allow no such rates", p, r.Log)
				}
				quiet = near(most, c.reads, 0.1) && near(r.Log.IOPS, c.logWrites, 0.1)
			}
		})
	}
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
	p := r.Preconditioning
	if r.Bytes != 16<<20 || p == nil || len(p.Sequential) != 2 || len(p.Rounds) < steadyRounds || len(r.Reads) != 1 {
		t.Errorf("%+v, preconditioning %+v", r, p)
	}
	busy, err := os.OpenFile(loop, os.O_RDWR|syscall.O_EXCL, 0)
	require.NoError(t, err)
	defer busy.Close()
	_, err = Run(t.Context(), o)
	assert.Error(t, err, "a device in use was overwritten")
}

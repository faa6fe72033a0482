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

// throttle holds this process and its children to limits of a drive, named as the files of the cgroup are; the functions that it gives
// set and lift them, so that what comes before is not held back.
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

// The limit that is found is that of the drive, within 10 %, at two speeds: random reads are held back by their number, and
// log writes by their bytes, which a flush has none of. Where a drive counts a flush as a request too, it does half as many
// log writes as requests: the device's own counters say that each is one write and one flush.
func TestThrottledDrive(t *testing.T) {
	needFio(t)
	drive := devicetest.Mount(t, devicetest.Memory(t), 64<<20)
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
			// A machine that is busy with something else gives a drive less than its limit, never more.
			for try := 1; ; try++ {
				var before devicetest.Counts
				r, err := Run(t.Context(), Options{Dir: drive.Dir, FileBytes: 16 << 20, StageTime: 2 * time.Second, Depths: []int{32}, Progress: func(what string, _ time.Duration) {
					switch {
					case strings.HasPrefix(what, "random reads"):
						begin()
					case what == "log writes":
						before = drive.Counts(t)
					}
				}})
				require.NoError(t, err)
				after := drive.Counts(t)
				end()
				most, writes, flushes := r.MaxReads(), after.Writes-before.Writes, after.Flushes-before.Flushes
				t.Logf("reads %+v, log writes %+v, while the device counted %.0f writes, of which %.0f flushes", r.Reads, r.Log, writes, flushes)
				if !near(r.ReadsAt(1), most, 1e-9) {
					t.Errorf("%.1f reads a second at any latency, and %.1f at most", r.ReadsAt(1), most)
				}
				if !near(writes/flushes, 2, 0.1) {
					t.Errorf("the device counted %.0f writes, of which %.0f flushes; a log write is one of each", writes, flushes)
				}
				if left, err := os.ReadDir(drive.Dir); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
				if near(most, c.reads, 0.1) && near(r.Log.IOPS, c.logWrites, 0.1) {
					break
				}
				if try == 5 || most > 1.1*c.reads || r.Log.IOPS > 1.1*c.logWrites {
					t.Fatalf("try %d: %.1f reads and %.1f log writes a second of a drive held to %.0f and %.0f", try, most, r.Log.IOPS, c.reads, c.logWrites)
				}
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
	o := Options{Device: loop, StageTime: time.Second, RoundTime: 100 * time.Millisecond, Precondition: true, Depths: []int{4}}
	r, err := Run(t.Context(), o)
	require.NoError(t, err)
	p := r.Preconditioning
	if r.Bytes != 16<<20 || p == nil || len(p.Sequential) != 2 || len(p.Rounds) < steadyRounds || len(r.Reads) != 1 {
		t.Errorf("%+v, preconditioning %+v", r, p)
	}
	busy, err := os.OpenFile(loop, os.O_RDWR|syscall.O_EXCL, 0)
	require.NoError(t, err)
	defer busy.Close()
	if _, err := Run(t.Context(), o); err == nil {
		t.Error("a device in use was overwritten")
	}
}

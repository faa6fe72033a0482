package device

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// throttle holds this process and its children to so many reads and so many writes a second of the drive under dir.
func throttle(t *testing.T, dir string, reads, writes int) {
	t.Helper()
	const root = "/sys/fs/cgroup/blkio"
	group := filepath.Join(root, fmt.Sprintf("ds2-device-test-%d", os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skip("a drive is held back by a cgroup (version 1), which only root can make: ", err)
	}
	write := func(group, file, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(group, file), []byte(text), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		write(root, "cgroup.procs", fmt.Sprint(os.Getpid()))
		if err := syscall.Rmdir(group); err != nil {
			t.Error(err)
		}
	})
	number := drive(t, dir)
	for file, limit := range map[string]int{"blkio.throttle.read_iops_device": reads, "blkio.throttle.write_iops_device": writes} {
		write(group, file, fmt.Sprintf("%s %d", number, limit))
	}
	write(group, "cgroup.procs", fmt.Sprint(os.Getpid()))
}

// drive is the major and minor number of the drive that dir lies on, the whole of it.
func drive(t *testing.T, dir string) string {
	t.Helper()
	var stat unix.Stat_t
	if err := unix.Stat(dir, &stat); err != nil {
		t.Fatal(err)
	}
	device, err := filepath.EvalSymlinks(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(stat.Dev), unix.Minor(stat.Dev)))
	if err != nil {
		t.Skip("the directory lies on no drive: ", err)
	}
	if _, err := os.Stat(filepath.Join(device, "partition")); err == nil {
		device = filepath.Dir(device)
	}
	number, err := os.ReadFile(filepath.Join(device, "dev"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(number))
}

// The limit that is found is that of the drive: held back to two speeds, reads are within 10 % of it. A log write is a write
// and a flush, which counts too, and waits for both: log writes are below half of the writes, and follow them within 15 %.
func TestThrottledDrive(t *testing.T) {
	needFio(t)
	dir := t.TempDir()
	var log []float64
	for _, c := range []struct{ reads, writes int }{{300, 60}, {900, 120}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			throttle(t, dir, c.reads, c.writes)
			r, err := Run(t.Context(), Options{Dir: dir, FileBytes: 16 << 20, StageTime: 2 * time.Second, Depths: []int{32}})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("held to %+v: reads %+v, log writes %+v", c, r.Reads, r.Log)
			if most := r.MaxReads(); !near(most, float64(c.reads), 0.1) || !near(r.ReadsAt(1), most, 1e-9) {
				t.Errorf("%.1f reads a second of a drive held to %d", most, c.reads)
			}
			if r.Log.IOPS > 0.55*float64(c.writes) {
				t.Errorf("%.1f log writes a second of a drive held to %d writes and flushes", r.Log.IOPS, c.writes)
			}
			log = append(log, r.Log.IOPS)
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
	if len(log) == 2 && !near(log[1]/log[0], 2, 0.15) {
		t.Errorf("%.1f and %.1f log writes a second of a drive held to 60 and 120 writes", log[0], log[1])
	}
}

// A drive of its own is preconditioned and measured whole; one in use is not touched.
func TestBlockDevice(t *testing.T) {
	needFio(t)
	image := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(image, make([]byte, 16<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	loop := attach(t, image)
	o := Options{Device: loop, StageTime: time.Second, RoundTime: 100 * time.Millisecond, Precondition: true, Depths: []int{4}}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	p := r.Preconditioning
	if r.Bytes != 16<<20 || p == nil || len(p.Sequential) != 2 || len(p.Rounds) < steadyRounds || len(r.Reads) != 1 {
		t.Errorf("%+v, preconditioning %+v", r, p)
	}
	busy, err := os.OpenFile(loop, os.O_RDWR|syscall.O_EXCL, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	if _, err := Run(t.Context(), o); err == nil {
		t.Error("a device in use was overwritten")
	}
}

// attach makes a loop device of a file.
func attach(t *testing.T, file string) string {
	t.Helper()
	out, err := exec.Command("losetup", "--find", "--show", file).CombinedOutput()
	if err != nil {
		t.Skipf("only root can make a loop device: %v: %s", err, out)
	}
	loop := strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "--detach", loop).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	return loop
}

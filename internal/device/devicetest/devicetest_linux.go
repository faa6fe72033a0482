// Package devicetest makes a drive for one test alone: a loop device with a file system, and what
// the kernel counts of it.
package devicetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Drive is a loop device. Its file system is mounted at Dir, where there is one.
type Drive struct {
	Path   string // "/dev/loop0"
	Name   string // "loop0"
	Number string // major and minor: "7:0"
	Dir    string // empty, and any user may enter it
}

// Attach makes a drive of a file. The test is skipped where it may not.
func Attach(t testing.TB, file string, options ...string) Drive {
	t.Helper()
	out, err := exec.Command("losetup", append([]string{"--find", "--show", file}, options...)...).
		CombinedOutput()
	if err != nil {
		t.Skipf("only root can make a loop device: %v: %s", err, out)
	}
	d := Drive{Path: strings.TrimSpace(string(out))}
	// From now on the kernel detaches it when it is closed here and not mounted: also where the
	// test is killed.
	open, err := os.Open(d.Path)
	require.NoError(t, err)
	out, err = exec.Command("losetup", "--detach", d.Path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() { assert.NoError(t, open.Close()) })
	d.Name = filepath.Base(d.Path)
	// The number keeps the cache mode and the limits that a test before has given it.
	cache := filepath.Join("/sys/class/block", d.Name, "queue/write_cache")
	require.NoError(t, os.WriteFile(cache, []byte("write back"), 0))
	number, err := os.ReadFile(filepath.Join("/sys/class/block", d.Name, "dev"))
	require.NoError(t, err)
	d.Number = strings.TrimSpace(string(number))
	_ = d.hold(0, 0) // where there is a control group
	return d
}

// Mount makes a drive of n bytes, which lie in a directory on another drive or in memory
// (/dev/shm), with ext4.
func Mount(t testing.TB, on string, bytes int64) Drive {
	t.Helper()
	under, err := os.MkdirTemp(on, "ds2-drive-")
	if err != nil {
		t.Skip("there is no room for a drive: ", err)
	}
	atEnd(t, `umount --lazy "$0/slow/drive" "$0/drive"; rm -rf "$0"`, under)
	image := filepath.Join(under, "below", "image")
	require.NoError(t, os.Mkdir(filepath.Dir(image), 0o755))
	return mount(t, "ext4", under, image, bytes)
}

// atEnd has a shell do something to a directory when the test has ended, or was killed: its
// standard input ends then.
func atEnd(t testing.TB, do, dir string) {
	t.Helper()
	shell := exec.Command("sh", "-c", "cat; "+do, dir)
	shell.SysProcAttr = &syscall.SysProcAttr{
		Setpgid: true,
	} // so that what kills the test does not kill it
	input, err := shell.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, shell.Start())
	t.Cleanup(func() { assert.NoError(t, errors.Join(input.Close(), shell.Wait())) })
}

// mount makes a drive of an image, which it makes too, with a file system that is mounted below a
// directory.
func mount(t testing.TB, fileSystem, under, image string, bytes int64, options ...string) Drive {
	t.Helper()
	require.NoError(t, os.WriteFile(image, nil, 0o600))
	require.NoError(t, os.Truncate(image, bytes))
	d := Attach(t, image, options...)
	if out, err := exec.Command("mkfs."+fileSystem, "-q", d.Path).CombinedOutput(); err != nil {
		t.Skipf("no file system can be made: %v: %s", err, out)
	}
	d.Dir = filepath.Join(under, "drive")
	require.NoError(t, os.MkdirAll(d.Dir, 0o755))
	require.NoError(t, os.Chmod(under, 0o755)) // which is its maker's alone
	err := syscall.Mount(d.Path, d.Dir, fileSystem, 0, "")
	if err != nil {
		t.Skip("the file system cannot be mounted: ", err)
	}
	t.Cleanup(func() {
		// The kernel lets go of the image of a drive on this one a moment after that drive is gone,
		// or when another test's server is gone that copied all mounts.
		assert.Eventually(t, func() bool {
			err = syscall.Unmount(d.Dir, 0)
			return !errors.Is(err, syscall.EBUSY)
		}, 5*time.Minute, 10*time.Millisecond)
		assert.NoError(t, err)
	})
	_ = os.Remove(filepath.Join(d.Dir, "lost+found")) // of ext4
	return d
}

// TempDir is a directory on a drive, for a test that looks at what the drive did: other temporary
// files may lie in memory. Those of /var/tmp outlive a restart of the machine, so they do not.
func TempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "ds2-test-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Forget has the kernel write all files of a directory out and take them out of its page cache.
// Those of a server that runs may come and go meanwhile.
func Forget(t testing.TB, dir string) {
	t.Helper()
	unix.Sync() // only clean pages can be forgotten
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		file, err := os.Open(name)
		if err != nil {
			return nil
		}
		defer file.Close()
		return unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED)
	})
	require.NoError(t, err)
}

// Sync has the kernel write out what it has yet to write to the drive, which it would count later.
func (d Drive) Sync(t testing.TB) {
	t.Helper()
	require.NoError(t, exec.Command("sync", "--file-system", d.Dir).Run())
}

// Counts are what the kernel has counted of a drive. A flush is among the writes too, since it
// comes as an empty one.
type Counts struct{ Reads, ReadBytes, ReadSeconds, Writes, MergedWrites, Flushes float64 }

// Counts reads them; see Documentation/block/stat.rst.
func (d Drive) Counts(t testing.TB) Counts {
	t.Helper()
	fs, err := blockdevice.NewDefaultFS()
	require.NoError(t, err)
	s, _, err := fs.SysBlockDeviceStat(d.Name)
	require.NoError(t, err)
	return Counts{
		float64(s.ReadIOs), float64(s.ReadSectors) * procfs.SectorSize, float64(s.ReadTicks) / 1000,
		float64(s.WriteIOs), float64(s.WriteMerges), float64(s.FlushRequestsCompleted),
	}
}

// WatchReads counts the drive's reads until it is asked how many there were a second from one time
// to another.
func (d Drive) WatchReads(t testing.TB) (perSecond func(from, to time.Time) float64) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	var times []time.Time
	var reads []float64
	var counting sync.WaitGroup
	counting.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
			reads = append(reads, d.Counts(t).Reads)
			times = append(times, time.Now())
		}
	})
	t.Cleanup(end)
	return func(from, to time.Time) float64 {
		end()
		counting.Wait()
		first, _ := slices.BinarySearchFunc(times, from, time.Time.Compare)
		next, _ := slices.BinarySearchFunc(times, to, time.Time.Compare)
		last := min(next, len(times)-1)
		return (reads[last] - reads[first]) / times[last].Sub(times[first]).Seconds()
	}
}

// Slow is a drive that can be held to a number of reads and writes a second: the kernel counts how
// long they take as it does for any drive. Its image lies on another drive, and a control group
// holds that one back.
type Slow struct {
	Drive
	below Drive
}

// MountSlow makes a slow drive as Mount makes another. It is fast until Hold.
func MountSlow(t testing.TB, fileSystem, on string, bytes int64) *Slow {
	t.Helper()
	below := Mount(t, on, bytes+bytes/8+16<<20) // with what its own file system takes
	s := &Slow{below: below}
	if below.hold(0, 0) != nil {
		t.Skip("no control group (version 1) holds drives back here")
	}
	under := filepath.Join(filepath.Dir(below.Dir), "slow")
	image := filepath.Join(below.Dir, "image")
	s.Drive = mount(t, fileSystem, under, image, bytes, "--direct-io=on")
	t.Cleanup(func() { s.Hold(t, 0, 0) }) // before it is unmounted
	return s
}

// Hold has the drive do at most these reads, and these writes and flushes, a second from now on; 0
// is any number. It lets them through in bursts, at most every tenth of a second.
func (s *Slow) Hold(t testing.TB, reads, writes int) {
	t.Helper()
	require.NoError(t, s.below.hold(reads, writes))
}

// HoldAbove has at most these reads and writes a second reach the drive, whose counters do not see
// that they wait.
func (s *Slow) HoldAbove(t testing.TB, reads, writes int) {
	t.Helper()
	require.NoError(t, s.hold(reads, writes))
	t.Cleanup(func() { _ = s.hold(0, 0) })
}

func (d Drive) hold(reads, writes int) error {
	for kind, most := range map[string]int{"read": reads, "write": writes} {
		limit := "/sys/fs/cgroup/blkio/blkio.throttle." + kind + "_iops_device"
		if err := os.WriteFile(limit, fmt.Appendf(nil, "%s %d", d.Number, most), 0); err != nil {
			return err
		}
	}
	return nil
}

// Small is a file system in memory, of a size such as 24m, that belongs to the owner of a file,
// such as a server's directory; grow makes it larger.
func Small(t testing.TB, size, owner string) (dir string, grow func(size string)) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ds2-small-drive-") // where other users may go
	require.NoError(t, err)
	t.Cleanup(func() { os.Remove(dir) })
	info, err := os.Stat(owner)
	require.NoError(t, err)
	user := info.Sys().(*syscall.Stat_t)
	if err := syscall.Mount("ds2", dir, "tmpfs", 0, "size="+size); errors.Is(err, syscall.EPERM) {
		t.Skip("only root can mount a small drive: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	require.NoError(
		t,
		errors.Join(os.Chown(dir, int(user.Uid), int(user.Gid)), os.Chmod(dir, 0o700)),
	)
	return dir, func(size string) {
		require.NoError(t, syscall.Mount("ds2", dir, "tmpfs", syscall.MS_REMOUNT, "size="+size))
	}
}

package iotrace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"ds2/internal/device/devicetest"
	"ds2/internal/nightly"
)

// TestClasses: on drives whose I/Os take one of two known times, reads and writes of data, writes and flushes of the
// log, and those of another directory are counted as what they are, each once, and no shorter than the drive took nor
// longer than the caller waited.
func TestClasses(t *testing.T) {
	nightly.Only(t, "times I/Os to a few hundredths, which takes a quiet machine")
	for _, c := range []struct {
		fileSystem          string
		drives, each, every int // I/Os of each class on each drive, and each how many of all is slow
	}{
		{"ext4", 1, 200, 20},
		{"xfs", 1, 200, 20},
		{"ext4", 16, 625, 1000},
	} {
		t.Run(fmt.Sprintf("%d of %s, 1 in %d", c.drives, c.fileSystem, c.every), func(t *testing.T) {
			classes(t, c.fileSystem, c.drives, c.each, c.every)
		})
	}
}

// Times of I/Os of the two kinds: long enough that what a quiet machine adds is below 5 %.
const fast, slow = 5 * time.Millisecond, 50 * time.Millisecond

// timed are the classes whose I/Os are made, in their order.
var timed = []Class{DataRead, DataWrite, LogWrite, LogFlush}

// made is an I/O as its caller saw it.
type made struct{ from, to time.Time }

func (m made) took() time.Duration { return m.to.Sub(m.from) }

func classes(t *testing.T, fileSystem string, number, each, every int) {
	var drives []*drive
	var names []string
	var directories []Directory
	for range number {
		d := newDrive(t, fileSystem)
		drives, names = append(drives, d), append(names, d.slow.Name)
		directories = append(directories, Directory{Path: d.data}, Directory{Path: d.log, Log: true})
	}
	tracer := open(t, names, directories, []int{os.Getpid()})
	var group errgroup.Group
	for i, d := range drives {
		group.Go(func() error { return d.make(i*each, (i+1)*each, every) })
	}
	require.NoError(t, group.Wait())
	all, err := tracer.Read()
	require.NoError(t, err)
	long, err := tracer.Long()
	require.NoError(t, err)

	n := number * each
	slows := n / every
	for c, class := range timed {
		var traced, waits []time.Duration
		for i, d := range drives {
			for micros, k := range all[i][class].All() {
				took := time.Duration(micros) * time.Microsecond
				traced = append(traced, slices.Repeat([]time.Duration{took}, int(k))...)
			}
			for _, m := range d.made[c] {
				waits = append(waits, m.took())
			}
		}
		slices.Sort(traced)
		slices.Sort(waits)
		lost := len(waits) - len(traced)
		require.GreaterOrEqual(t, lost, 0, "%v: each once", class)
		// A kernel may run no program in some interrupts: see the evidence.
		require.LessOrEqual(t, lost, n/20, "%v: each", class)
		t.Logf("%v: %d of %d are not counted", class, lost, n)
		// What is longer than a slow I/O is one, or stood still as long on a busy machine, as its caller noticed.
		// Buckets have 1 %.
		over := func(all []time.Duration, least time.Duration) int {
			at, _ := slices.BinarySearch(all, least)
			return len(all) - at
		}
		found, noticed := over(traced, slow*99/100), over(waits, slow*98/100)
		t.Logf("%v: %d of %d slow ones are found, %d by their callers", class, found, slows, noticed)
		require.GreaterOrEqual(t, found, slows-lost, "%v", class)
		require.LessOrEqual(t, found, noticed, "%v", class)
		for _, peak := range []struct {
			is, found, waited time.Duration
		}{
			{fast, traced[len(traced)/2-lost], waits[len(waits)/2]},
			{slow, traced[len(traced)-(slows+1)/2], waits[len(waits)-(slows+1)/2]},
		} {
			t.Logf("%v: a peak at %s is found at %s, where callers waited %s", class, peak.is, peak.found, peak.waited)
			require.GreaterOrEqual(t, peak.found, peak.is*99/100, "%v: at least as long as the drive took", class)
			require.LessOrEqual(t, peak.found*99/100, peak.waited, "%v: no longer than was waited", class)
		}
	}
	for i := range all {
		require.Positive(t, slices.Max(all[i][OtherWrite].Counts[:]), "of the other directory")
	}
	if number > 1 {
		return // that the list is right takes no more of them
	}
	for c, class := range timed {
		all := slices.Clone(drives[0].made[c])
		listed := len(all) - len(slices.DeleteFunc(all, func(m made) bool {
			return slices.ContainsFunc(long, func(io IO) bool {
				return io.Class == class && io.To.Sub(io.From) >= fast && !io.From.Before(m.from) && !io.To.After(m.to)
			})
		}))
		if class == DataWrite { // for which no session waits
			require.Zero(t, listed, "%v", class)
		} else {
			require.GreaterOrEqual(t, listed, n-n/20, "%v", class)
		}
	}
	long, err = tracer.Long()
	require.NoError(t, err)
	require.Empty(t, long)
}

// open skips the test where the machine does not let it trace; where its kernel refuses the programs, the test fails.
func open(t *testing.T, drives []string, directories []Directory, servers []int) *Tracer {
	t.Helper()
	tracer, err := Open(drives, directories, servers)
	if errors.Is(err, unix.EPERM) || errors.Is(err, ebpf.ErrNotSupported) || errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(tracer.Close)
	return tracer
}

// drive is a slow one with files of data, of a log and of somebody else.
type drive struct {
	slow                          *devicetest.Slow
	data, log                     string
	table, direct, segment, other *os.File
	made                          [4][]made // as timed
}

const blocks, size = 64, 8192

func newDrive(t *testing.T, fileSystem string) *drive {
	t.Helper()
	d := &drive{slow: devicetest.MountSlow(t, fileSystem, "/dev/shm", 320<<20)} // the least that XFS takes
	d.data, d.log = filepath.Join(d.slow.Dir, "data"), filepath.Join(d.slow.Dir, "data", "log")
	file := func(dir string) *os.File {
		require.NoError(t, os.Mkdir(dir, 0o755))
		f, err := os.Create(filepath.Join(dir, "file"))
		require.NoError(t, err)
		t.Cleanup(func() { f.Close() })
		_, err = f.Write(make([]byte, blocks*size))
		require.NoError(t, err)
		return f
	}
	d.table, d.segment, d.other = file(d.data), file(d.log), file(filepath.Join(d.slow.Dir, "others"))
	var err error
	d.direct, err = os.OpenFile(d.table.Name(), os.O_RDONLY|syscall.O_DIRECT, 0)
	require.NoError(t, err)
	t.Cleanup(func() { d.direct.Close() })
	require.NoError(t, unix.Syncfs(int(d.table.Fd())))
	return d
}

// make makes I/Os of each class, by their numbers among those of all drives, and one of somebody else.
func (d *drive) make(first, last, every int) error {
	buffer := devicetest.Aligned(size)
	for i := first; i < last; i++ {
		delay, at := fast, int64(i%blocks*size)
		if i%every == 0 {
			delay = slow
		}
		write := func(f *os.File) error {
			if _, err := f.WriteAt(buffer, at); err != nil {
				return err
			}
			const wait = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
			return unix.SyncFileRange(int(f.Fd()), at, size, wait)
		}
		d.slow.Delay(delay, delay)
		for c, do := range []func() error{
			func() error { _, err := syscall.Pread(int(d.direct.Fd()), buffer, at); return err },
			func() error { return write(d.table) },
			func() error { return write(d.segment) },
			func() error { return syscall.Fdatasync(int(d.segment.Fd())) },
		} {
			begin := time.Now()
			if err := do(); err != nil {
				return fmt.Errorf("%v: %w", timed[c], err)
			}
			d.made[c] = append(d.made[c], made{begin, time.Now()})
		}
	}
	d.slow.Delay(0, 0)
	if _, err := d.other.WriteAt(buffer, 0); err != nil {
		return err
	}
	begin := time.Now()
	err := syscall.Fdatasync(int(d.other.Fd()))
	d.made[3] = append(d.made[3], made{begin, time.Now()}) // a flush is told by the process alone
	return err
}

// TestCost: at 10,000 I/Os a second, all of them long, the tracer takes less than 3 % of a processor, by the kernel's
// own times of its programs and by those of the thread that reads histograms and list once a second.
func TestCost(t *testing.T) {
	nightly.Only(t, "takes times that other work on the processors would change")
	d := newDrive(t, "ext4")
	tracer := open(t, []string{d.slow.Name}, []Directory{{Path: d.data}, {Path: d.log, Log: true}}, []int{os.Getpid()})
	stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
	require.NoError(t, err)
	t.Cleanup(func() { stats.Close() })
	const users, ios = 20, 10_000
	d.slow.Delay(time.Millisecond, 0)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	programs := func() (all time.Duration) {
		objects := tracer.objects
		for _, program := range []*ebpf.Program{objects.Queued, objects.RequestEnded, objects.BioEnded} {
			s, err := program.Stats()
			require.NoError(t, err)
			all += s.Runtime
		}
		return all
	}
	thread := func() time.Duration {
		var u unix.Rusage
		require.NoError(t, unix.Getrusage(unix.RUSAGE_THREAD, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	least := time.Hour // of some seconds, as interrupts and cold caches are not the tracer's
	for range 3 {
		kernel := programs()
		var group errgroup.Group
		for range users {
			group.Go(func() error {
				buffer := devicetest.Aligned(size)
				for i := range ios / users {
					if _, err := syscall.Pread(int(d.direct.Fd()), buffer, int64(i%blocks*size)); err != nil {
						return err
					}
				}
				return nil
			})
		}
		require.NoError(t, group.Wait())
		kernel = programs() - kernel
		reading := thread()
		tracer.Look()
		_, err := tracer.Read()
		require.NoError(t, err)
		long, err := tracer.Long()
		require.NoError(t, err)
		reading = thread() - reading
		t.Logf("%d reads: %s in the kernel, %s for reading it and %d long I/Os", ios, kernel, reading, len(long))
		require.GreaterOrEqual(t, len(long), ios*99/100)
		least = min(least, kernel+reading)
	}
	require.Less(t, least, 30*time.Millisecond)
}

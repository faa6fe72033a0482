package iotrace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"ds2/internal/device/devicetest"
	"ds2/internal/nightly"
)

// TestOpenFails: what cannot be traced is an error, which a run goes on without.
func TestOpenFails(t *testing.T) {
	_, err := Open([]string{"no such drive"}, nil, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestClasses: on drives that are held back in bursts, reads and writes of data, writes and flushes
// of the log, and those of another directory are counted as what they are, each once, no longer
// than their callers waited and as long as the drive took.
func TestClasses(t *testing.T) {
	nightly.Only(t, "times I/Os to a few hundredths, which takes a quiet machine")
	for _, c := range []struct {
		fileSystem string
		drives     int
	}{{"ext4", 1}, {"xfs", 1}, {"ext4", 16}} {
		t.Run(fmt.Sprintf("%d of %s", c.drives, c.fileSystem), func(t *testing.T) {
			classes(t, c.fileSystem, c.drives)
		})
	}
}

// held is how many reads and writes a second each drive does: of some, the next has to wait for the
// next burst.
const held = 100

// each is how many I/Os of each class are made on each drive.
const each = 200

// waited is what an I/O takes at least that had to: so long that what a quiet machine adds is below
// 5 %.
const waited = 20 * time.Millisecond

// timed are the classes whose I/Os are made, in their order.
var timed = []Class{dataRead, dataWrite, logWrite, logFlush}

const dataRead, dataWrite, logWrite, logFlush, otherWrite Class = 0, 1, 4, 5, 7

func classes(t *testing.T, fileSystem string, number int) {
	var drives []*drive
	var names []string
	var directories []Directory
	before := 0.0
	for range number {
		d := newDrive(t, fileSystem)
		drives = append(drives, d)
		names = append(names, d.slow.Name)
		directories = append(
			directories,
			Directory{Path: d.data},
			Directory{Path: d.log, Log: true},
		)
		d.slow.Hold(t, held, held)
		before += d.slow.Counts(t).ReadSeconds
	}
	tracer := open(t, names, directories, []int{os.Getpid()})
	var group errgroup.Group
	for _, d := range drives {
		group.Go(d.make)
	}
	require.NoError(t, group.Wait())
	all, err := tracer.Read()
	require.NoError(t, err)
	var counted time.Duration // by the kernel, of the drives' reads
	for _, d := range drives {
		counted += time.Duration(d.slow.Counts(t).ReadSeconds * float64(time.Second))
	}
	counted -= time.Duration(before * float64(time.Second))

	n := number * each
	for c, class := range timed {
		var traced, waits []time.Duration
		var sum time.Duration
		for i, d := range drives {
			for micros, k := range all[i][class].All() {
				took := time.Duration(micros) * time.Microsecond
				traced = append(traced, slices.Repeat([]time.Duration{took}, int(k))...)
				sum += took * time.Duration(k)
			}
			waits = append(waits, d.waits[c]...)
		}
		for _, times := range [][]time.Duration{traced, waits} {
			slices.Sort(times)
			slices.Reverse(times)
		}
		lost := len(waits) - len(traced)
		require.GreaterOrEqual(t, lost, 0, "%v: each once", class)
		// A kernel may run no program in some interrupts: see the evidence.
		require.LessOrEqual(t, lost, n/20, "%v: each", class)
		for i, took := range traced {
			require.LessOrEqual(
				t,
				took*99/100,
				waits[i],
				"%v: no longer than was waited",
				class,
			) // buckets have 1 %
		}
		had := len(waits)
		if i := slices.IndexFunc(waits, func(w time.Duration) bool { return w < waited }); i >= 0 {
			had = i
		}
		t.Logf(
			"%v: %d of %d are not counted; %d had to wait, half of them %s, where callers waited %s",
			class,
			lost,
			n,
			had,
			traced[had/2],
			waits[had/2],
		)
		if class != logFlush { // which the control group lets through
			require.GreaterOrEqual(t, had, n/100, "%v that had to wait", class)
			require.GreaterOrEqual(
				t,
				traced[had/2],
				waits[had/2+lost]*8/10,
				"%v: as long as the drive took",
				class,
			)
		}
		if class == dataRead && lost == 0 {
			require.InEpsilon(t, counted, sum, .05, "as the kernel counts the drives' reads")
		}
	}
	for i := range all {
		require.Positive(t, slices.Max(all[i][otherWrite].Counts[:]), "of the other directory")
	}
}

// open skips the test where the machine does not let it trace; where its kernel refuses the
// programs, the test fails.
func open(t testing.TB, drives []string, directories []Directory, servers []int) *Tracer {
	t.Helper()
	tracer, err := Open(drives, directories, servers)
	if errors.Is(err, unix.EPERM) || errors.Is(err, ebpf.ErrNotSupported) ||
		errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(tracer.Close)
	return tracer
}

// drive is a slow one with files of data, of a log and of another program.
type drive struct {
	slow                          *devicetest.Slow
	data, log                     string
	table, direct, segment, other *os.File
	waits                         [4][]time.Duration // of callers, as timed
}

const blocks, size = 64, 8192

func newDrive(t testing.TB, fileSystem string) *drive {
	t.Helper()
	d := &drive{
		slow: devicetest.MountSlow(t, fileSystem, "/dev/shm", 320<<20),
	} // the least that XFS takes
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
	d.table, d.segment, d.other = file(d.data), file(d.log), file(
		filepath.Join(d.slow.Dir, "others"),
	)
	var err error
	d.direct, err = os.OpenFile(d.table.Name(), os.O_RDONLY|syscall.O_DIRECT, 0)
	require.NoError(t, err)
	t.Cleanup(func() { d.direct.Close() })
	require.NoError(t, unix.Syncfs(int(d.table.Fd())))
	return d
}

// make makes I/Os of each class, so that the drive holds each back, and one of another program.
func (d *drive) make() error {
	buffer := alignedBuffer(size)
	write := func(f *os.File, at int64) error {
		if _, err := f.WriteAt(buffer, at); err != nil {
			return err
		}
		const wait = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
		return unix.SyncFileRange(int(f.Fd()), at, size, wait)
	}
	do := []func(at int64) error{
		func(at int64) error {
			_, err := syscall.Pread(int(d.direct.Fd()), buffer, at)
			return err
		},
		func(at int64) error { return write(d.table, at) },
		func(at int64) error { return write(d.segment, at) },
		func(int64) error { return syscall.Fdatasync(int(d.segment.Fd())) },
	}
	for _, together := range [][]int{{0}, {1}, {2, 3}} { // a flush has something to flush
		for i := range each {
			for _, c := range together {
				begin := time.Now()
				if err := do[c](int64(i % blocks * size)); err != nil {
					return fmt.Errorf("%v: %w", timed[c], err)
				}
				d.waits[c] = append(d.waits[c], time.Since(begin))
			}
		}
	}
	if _, err := d.other.WriteAt(buffer, 0); err != nil {
		return err
	}
	begin := time.Now()
	err := syscall.Fdatasync(int(d.other.Fd()))
	d.waits[3] = append(d.waits[3], time.Since(begin)) // a flush is told by the process alone
	return err
}

// BenchmarkTracer is what the tracer takes of a CPU for a read, by the kernel's own times of its
// programs.
func BenchmarkTracer(b *testing.B) {
	d := newDrive(b, "ext4")
	tracer := open(
		b,
		[]string{d.slow.Name},
		[]Directory{{Path: d.data}, {Path: d.log, Log: true}},
		[]int{os.Getpid()},
	)
	stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
	require.NoError(b, err)
	defer stats.Close()
	programs := func() (all time.Duration) {
		for _, program := range tracer.objects.Programs {
			s, err := program.Stats()
			require.NoError(b, err)
			all += s.Runtime
		}
		return all
	}
	buffer := alignedBuffer(size)
	before := programs()
	for i := 0; b.Loop(); i++ {
		if _, err := syscall.Pread(int(d.direct.Fd()), buffer, int64(i%blocks*size)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(programs()-before)/float64(b.N), "tracer-ns/op")
}

// alignedBuffer is a buffer as direct reads take them.
func alignedBuffer(size int) []byte {
	b := make([]byte, 2*size)
	skip := size - int(uintptr(unsafe.Pointer(&b[0]))%uintptr(size))
	return b[skip : skip+size]
}

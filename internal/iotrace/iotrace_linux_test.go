package iotrace

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
)

// TestClasses: on a drive whose I/Os take known times, reads of data, writes and flushes of the log, and those of another directory are
// counted as what they are, each once, and no shorter than the drive took nor longer than the caller waited.
func TestClasses(t *testing.T) {
	d := devicetest.MountSlow(t, os.TempDir(), 64<<20)
	data, logs, others := filepath.Join(d.Dir, "data"), filepath.Join(d.Dir, "data", "log"), filepath.Join(d.Dir, "others")
	for _, dir := range []string{data, logs, others} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	const size = 8192
	file := func(dir string) *os.File {
		f, err := os.Create(filepath.Join(dir, "file"))
		require.NoError(t, err)
		t.Cleanup(func() { f.Close() })
		_, err = f.Write(make([]byte, 64*size))
		require.NoError(t, err)
		return f
	}
	table, segment, other := file(data), file(logs), file(others)
	direct, err := os.OpenFile(table.Name(), os.O_RDONLY|syscall.O_DIRECT, 0)
	require.NoError(t, err)
	t.Cleanup(func() { direct.Close() })
	syscall.Sync()

	tracer, err := Open([]string{d.Name}, []Directory{{Path: data}, {Path: logs, Log: true}}, []int{os.Getpid()})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(tracer.Close)
	const fast, slow = 2 * time.Millisecond, 30 * time.Millisecond
	var waits [Classes][]time.Duration
	var begins [Classes][]time.Time
	var slows [Classes]int
	buffer := aligned(size)
	for i := range 200 {
		delay := fast
		if i%20 == 0 {
			delay = slow
			slows[DataRead]++
			slows[LogFlush]++
		}
		d.Delay(delay, delay)
		begin := time.Now()
		_, err := syscall.Pread(int(direct.Fd()), buffer, int64(i%64*size))
		require.NoError(t, err)
		waits[DataRead], begins[DataRead] = append(waits[DataRead], time.Since(begin)), append(begins[DataRead], begin)
		_, err = segment.WriteAt(buffer, int64(i%64*size))
		require.NoError(t, err)
		begin = time.Now()
		require.NoError(t, syscall.Fdatasync(int(segment.Fd())))
		waits[LogFlush], begins[LogFlush] = append(waits[LogFlush], time.Since(begin)), append(begins[LogFlush], begin)
	}
	d.Delay(0, 0)
	_, err = other.WriteAt(buffer, 0)
	require.NoError(t, err)
	require.NoError(t, syscall.Fdatasync(int(other.Fd())))

	all, err := tracer.Read()
	require.NoError(t, err)
	for class, n := range map[Class]uint64{DataRead: 200, LogWrite: 200, LogFlush: 201, DataWrite: 0} { // a flush is told by the process
		require.Equal(t, n, count(all[0][class], 0), class.String())
	}
	require.Positive(t, count(all[0][OtherWrite], 0))
	for _, class := range []Class{DataRead, LogFlush} {
		h, waited := all[0][class], 0
		for _, wait := range waits[class] {
			if wait >= slow {
				waited++
			}
		}
		require.GreaterOrEqual(t, count(h, fast), uint64(len(waits[class])), "%v: at least as long as the drive took", class)
		require.GreaterOrEqual(t, count(h, slow), uint64(slows[class]), "%v", class)
		require.LessOrEqual(t, count(h, slow), uint64(waited), "%v: no longer than was waited", class)
	}

	long, err := tracer.Long()
	require.NoError(t, err)
	for _, class := range []Class{DataRead, LogFlush} {
		for i, begin := range begins[class] {
			end := begin.Add(waits[class][i])
			require.True(t, slices.ContainsFunc(long, func(io IO) bool {
				return io.Class == class && io.To.Sub(io.From) >= fast && !io.From.Before(begin) && !io.To.After(end)
			}), "%v %d, waited for from %s to %s, in %+v", class, i, begin, end, long)
		}
	}
	long, err = tracer.Long()
	require.NoError(t, err)
	require.Empty(t, long)
}

// count is how many I/Os took at least as long, to 1 %.
func count(h Histogram, least time.Duration) (n uint64) {
	for micros, k := range h.All() {
		if float64(micros) >= .99*float64(least.Microseconds()) {
			n += k
		}
	}
	return n
}

// aligned is a buffer as direct reads take them.
func aligned(size int) []byte {
	b := make([]byte, 2*size)
	skip := size - int(uintptr(unsafe.Pointer(&b[0]))%uintptr(size))
	return b[skip : skip+size]
}

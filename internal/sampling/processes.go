package sampling

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"ds2/internal/topology"

	"github.com/prometheus/procfs"
)

// taken is what a process, its children and those children that are gone have taken: seconds of
// CPUs, and bytes from drives; NaN where this process may not know.
func taken(fs topology.FS, pid int) ([]float64, error) {
	pfs, process, err := fs.Process(pid)
	if err != nil {
		return nil, err
	}
	stat, err := process.Stat()
	if err != nil {
		return nil, err
	}
	const ticks = 100 // a second, on all of Linux's architectures
	seconds := stat.CPUTime() + float64(stat.CUTime+stat.CSTime)/ticks
	readBytes := bytesRead(process)
	own := strconv.Itoa(pid)
	children, err := os.ReadFile(filepath.Join(fs.Proc, own, "task", own, "children"))
	if err != nil { // as of a kernel that does not tell
		return nil, err
	}
	for _, child := range strings.Fields(string(children)) {
		n, _ := strconv.Atoi(child)
		if p, err := pfs.Proc(n); err == nil {
			if stat, err := p.Stat(); err == nil {
				seconds += stat.CPUTime()
				readBytes += bytesRead(p)
			}
		}
	}
	return []float64{seconds, readBytes}, nil
}

// bytesRead is what a process and those of its children that are gone had read from drives; NaN
// where it is not told.
func bytesRead(p procfs.Proc) float64 {
	io, err := p.IO()
	if err != nil {
		return math.NaN()
	}
	return float64(io.ReadBytes)
}

// ServerSources read what a server takes and how its container holds it back; item tells several
// servers apart.
func ServerSources(fs topology.FS, pid int, l topology.Limits, item, server string) []Source {
	kinds := []kind{
		{"server_processor_seconds_total", ServerProcessors, nil},
		{"server_read_bytes_total", ServerReadBytes, nil},
	}
	if l.Processors > 0 {
		kinds = append(kinds, kind{column: ServerUsed, derive: share(0, l.Processors)})
	}
	read := func(context.Context) ([]float64, error) { return taken(fs, pid) }
	all := append(
		[]Source{singleSource("processes of "+server, "server", server, item, kinds, read)},
		throttleSources(l, "the database server", ServerThrottled, "server", server, item)...)
	if l.Memory != "" {
		free := []kind{{
			"server_available_bytes", ServerMemory, gauge(0),
		}}
		all = append(
			all,
			singleSource("memory of "+server, "server", server, item, free, l.Available),
		)
	}
	return all
}

// throttleSources reads how the group, where it does, holds its processes back, of those whose
// container it is: ds2, or a server.
func throttleSources(l topology.Limits, whose, column, label, server, inColumns string) []Source {
	if l.CPU == "" {
		return nil
	}
	prefix, _, _ := strings.Cut(column, ".")
	kinds := []kind{
		{prefix + "_throttled_periods_total", column, ratio(0, 1)},
		{prefix + "_periods_total", "", nil},
		{prefix + "_throttled_seconds_total", "", nil},
	}
	return []Source{
		singleSource("container of "+whose, label, server, inColumns, kinds, l.Throttling),
	}
}

// OwnSources read the machine that the orders come from: how busy its CPUs are, what ds2 itself
// takes of it, which must not grow in a run of days, and how its own container, if there is one,
// holds it back.
func OwnSources(fs topology.FS) ([]Source, error) {
	if runtime.GOOS != "linux" {
		return nil, nil
	}
	pfs, self, err := fs.Process(os.Getpid())
	if err != nil {
		return nil, fmt.Errorf("open process counters: %w", err)
	}
	first, err := pfs.Stat()
	if err != nil {
		return nil, fmt.Errorf("read CPU counters: %w", err)
	}
	client := singleSource("client", "", "", "", []kind{
		{"client_busy_seconds_total", ClientBusy, atMostOne(share(0, float64(len(first.CPU))))},
		{"client_own_seconds_total", ClientOwn, nil},
		{
			column: ClientUsed,
			derive: share(1, float64(runtime.GOMAXPROCS(0))),
		}, // which heeds a container's limit
		{"client_resident_bytes", ClientMemory, gauge(2)},
		{"client_open_files", ClientFiles, gauge(3)},
		{"client_goroutines", ClientGoroutines, gauge(4)},
	}, func(context.Context) ([]float64, error) {
		machine, err := pfs.Stat()
		own, ownErr := self.Stat()
		files, filesErr := self.FileDescriptorsLen()
		if err := cmp.Or(err, ownErr, filesErr); err != nil {
			return nil, err
		}
		all := machine.CPUTotal
		return []float64{
			all.User + all.Nice + all.System + all.IRQ + all.SoftIRQ + all.Steal,
			own.CPUTime(),
			float64(own.ResidentMemory()),
			float64(files),
			float64(runtime.NumGoroutine()),
		}, nil
	})
	own, _ := fs.Limits(os.Getpid())
	return append(
		[]Source{client},
		throttleSources(own, "ds2", ClientThrottled, "", "", "")...), nil
}

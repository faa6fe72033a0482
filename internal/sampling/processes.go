package sampling

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"ds2/internal/topology"

	"github.com/prometheus/procfs"
)

// readTaken is what a process, its children and those children that are gone have taken: seconds of
// CPUs, and bytes from drives; NaN where this process may not know.
func readTaken(fs topology.FS, pid int) ([]float64, error) {
	pfs, process, err := fs.Process(pid)
	if err != nil {
		return nil, err
	}
	stat, err := process.Stat()
	if err != nil {
		return nil, err
	}
	const ticks = 100 // a second, on all of Linux's architectures
	// CUTime and CSTime are of children that have ended, as PostgreSQL's closed sessions have.
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
	kinds := slices.Clone(figureKinds["server"])
	if l.Processors > 0 {
		kinds = append(kinds, kind{column: ServerUsed, derive: share(0, l.Processors)})
	}
	read := func(context.Context) ([]float64, error) { return readTaken(fs, pid) }
	all := append(
		[]Source{singleSource("processes of "+server, "server", server, item, kinds, read)},
		throttleSources(l, "the database server", "server", server, item)...)
	if l.Memory != "" {
		free := figureKinds["server memory"]
		memory := singleSource("memory of "+server, "server", server, item, free, l.Available)
		all = append(all, memory)
	}
	return all
}

// throttleSources reads how the group, where it does, holds its processes back, of those whose
// container it is: ds2 (a client), or a server.
func throttleSources(l topology.Limits, whose, kind, server, inColumns string) []Source {
	if l.CPU == "" {
		return nil
	}
	label := ""
	if server != "" {
		label = "server"
	}
	kinds := figureKinds[kind+" container"]
	throttled := singleSource("container of "+whose, label, server, inColumns, kinds, l.Throttling)
	return []Source{throttled}
}

// busySeconds is the time that CPUs worked, or that their hypervisor took from them.
func busySeconds(t procfs.CPUStat) float64 {
	return t.User + t.Nice + t.System + t.IRQ + t.SoftIRQ + t.Steal
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
	kinds := append(slices.Clone(figureKinds["client"]), kind{
		column: ClientUsed, // of GOMAXPROCS, which heeds a container's limit
		derive: share(1, float64(runtime.GOMAXPROCS(0))),
	})
	kinds[0].derive = atMostOne(share(0, float64(len(first.CPU))))
	client := singleSource("client", "", "", "", kinds, func(context.Context) ([]float64, error) {
		machine, err := pfs.Stat()
		own, ownErr := self.Stat()
		files, filesErr := self.FileDescriptorsLen()
		if err := cmp.Or(err, ownErr, filesErr); err != nil {
			return nil, err
		}
		return []float64{
			busySeconds(machine.CPUTotal),
			own.CPUTime(),
			float64(own.ResidentMemory()),
			float64(files),
			float64(runtime.NumGoroutine()),
		}, nil
	})
	own, _ := fs.Limits(os.Getpid())
	return append(
		[]Source{client},
		throttleSources(own, "ds2", "client", "", "")...), nil
}

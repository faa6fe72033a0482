package monitor

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ds2/internal/iotrace"
	"ds2/internal/measure"
)

// IOTrace is the times of every I/O of the drives under the databases, by drive and what the I/O was for.
type IOTrace struct {
	drives []string
	tracer *iotrace.Tracer

	mu   sync.Mutex
	long []iotrace.IO // not yet forgotten
}

// traceIO begins to trace, where that was asked for. What is missing for it is a note: the run is none the worse.
func (w *Observer) traceIO(files []File) {
	if !w.o.IOTrace {
		return
	}
	if w.Machine == nil || !w.Local || len(w.exporters) > 0 {
		w.note("I/Os are not traced: that is done where ds2 runs on the database's machine and observes it itself")
		return
	}
	t := &IOTrace{}
	for _, d := range w.Machine.Drives {
		t.drives = append(t.drives, d.Name)
	}
	var directories []iotrace.Directory
	for _, file := range files { // data before log, which may lie below it
		path := file.Path
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			path = filepath.Dir(path)
		}
		directories = append(directories, iotrace.Directory{Path: path, Log: file.Role == Log})
	}
	var err error
	if t.tracer, err = iotrace.Open(t.drives, directories, w.serverProcesses); err != nil {
		w.note("I/Os are not traced: %v", err)
		return
	}
	w.IOTrace = t
	w.Sources = append(w.Sources, t.source())
}

// Close ends what is observed only as long as somebody asks for it: the tracing of I/Os. A nil Observer has none.
func (w *Observer) Close() {
	if w != nil && w.IOTrace != nil {
		w.IOTrace.tracer.Close()
	}
}

// Totals are the times since the tracing began, of those of which there are any.
func (t *IOTrace) Totals() ([]measure.Distribution, error) {
	return t.since(make([][iotrace.Classes]iotrace.Histogram, len(t.drives)))
}

// NewReader makes a function that gives the times since it was called the last time, or made.
func (t *IOTrace) NewReader() (func() ([]measure.Distribution, error), error) {
	was, err := t.tracer.Read()
	return func() ([]measure.Distribution, error) { return t.since(was) }, err
}

// since gives what came after was, by names such as "nvme0n1 log flush", and sets that to now.
func (t *IOTrace) since(was [][iotrace.Classes]iotrace.Histogram) (all []measure.Distribution, err error) {
	now, err := t.tracer.Read()
	for i := range now {
		for class := range iotrace.Classes {
			h := now[i][class].Since(was[i][class])
			d := measure.Counted(t.drives[i]+" "+class.String(), h.Sum, h.All())
			if d.Count() > 0 {
				all = append(all, d)
			}
		}
	}
	copy(was, now)
	return all, err
}

// source is the tracing second by second. Its figures are gauges: the running totals are a histogram, which is not one
// of them.
func (t *IOTrace) source() Source {
	var names []string
	for _, drive := range t.drives {
		for class := range iotrace.Classes {
			names = append(names, drive+" "+class.String())
		}
	}
	const help = "Of the traced I/Os of the last second, in seconds."
	read, failed := t.NewReader()
	return itemSource("traced I/Os", "io", "", names, []kind{
		{"io_p50_seconds", help, IOMedian, gauge(0)},
		{"io_p99_seconds", help, IOP99, gauge(1)},
		{"io_max_seconds", help, IOMax, gauge(2)},
	}, func(context.Context) (readings, error) {
		if failed != nil {
			return nil, failed
		}
		t.tracer.Look()
		all, err := read()
		values := readings{}
		for _, d := range all {
			values[d.Name] = []float64{d.Quantile(.5).Seconds(), d.Quantile(.99).Seconds(), d.Quantile(1).Seconds()}
		}
		return values, errors.Join(err, t.gather())
	})
}

// IOsFor merges the times of one kind of I/O, such as "log flush", over all drives, of which all are by drive and kind.
func IOsFor(kind string, all map[string]measure.Distribution) measure.Distribution {
	var some []measure.Distribution
	for name, d := range all {
		if strings.HasSuffix(name, " "+kind) {
			some = append(some, d)
		}
	}
	if len(some) == 0 {
		return measure.Distribution{}
	}
	return measure.Merge(kind, some...)
}

// Kinds of long I/Os that orders wait for. A flush of the log is its write and the wait for the drive's cache.
const (
	WaitLogFlush = "log flush"
	WaitDataRead = "data read"
)

var waits = []struct {
	kind    string
	classes []iotrace.Class
}{
	{WaitLogFlush, []iotrace.Class{iotrace.LogWrite, iotrace.LogFlush}},
	{WaitDataRead, []iotrace.Class{iotrace.DataRead}},
}

// goodPart is by how much an I/O has to be shorter than an operation to be too short to tell why that was slow.
const goodPart = 4

// mostLong is how many long I/Os are kept at most; beyond it the shorter half goes.
const mostLong = 1 << 17

// gather takes the long I/Os since it was called the last time.
func (t *IOTrace) gather() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	more, err := t.tracer.Long()
	t.long = append(t.long, more...)
	if len(t.long) > mostLong {
		slices.SortFunc(t.long, func(a, b iotrace.IO) int { return int(b.To.Sub(b.From) - a.To.Sub(a.From)) })
		t.long = t.long[:mostLong/2]
	}
	return err
}

// Explain notes of slow orders which long I/Os were under way while they waited, and forgets the I/Os that ended before
// a time; times of orders count from start.
func (t *IOTrace) Explain(slow []measure.SlowOrder, start, before time.Time) error {
	err := t.gather()
	t.mu.Lock()
	defer t.mu.Unlock()
	explain(slow, t.long, start)
	t.long = slices.DeleteFunc(t.long, func(io iotrace.IO) bool { return io.To.Before(before) })
	return err
}

// explain notes of each order the kind of I/O that took most of its slowest operation.
func explain(slow []measure.SlowOrder, long []iotrace.IO, start time.Time) {
	least := time.Duration(math.MaxInt64)
	for _, o := range slow {
		least = min(least, (o.OperationTo-o.OperationFrom)/goodPart)
	}
	var some []iotrace.IO // mostly few
	for _, io := range long {
		if io.To.Sub(io.From) >= least {
			some = append(some, io)
		}
	}
	slices.SortFunc(some, func(a, b iotrace.IO) int { return a.From.Compare(b.From) })
	for i := range slow {
		o := &slow[i]
		least := (o.OperationTo - o.OperationFrom) / goodPart
		o.IO, o.IOTime = measure.NoIO, 0
		for _, wait := range waits {
			covered, until := time.Duration(0), o.OperationFrom
			for _, io := range some {
				if io.To.Sub(io.From) < least || !slices.Contains(wait.classes, io.Class) {
					continue
				}
				begin, end := max(io.From.Sub(start), until), min(io.To.Sub(start), o.OperationTo)
				if begin < end {
					covered, until = covered+end-begin, end
				}
			}
			if covered > o.IOTime {
				o.IO, o.IOTime = wait.kind, covered
			}
		}
	}
}

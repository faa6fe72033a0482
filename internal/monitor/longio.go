package monitor

import (
	"math"
	"slices"
	"time"

	"ds2/internal/iotrace"
	"ds2/internal/measure"
)

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

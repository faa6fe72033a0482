// Package iotrace times every I/O of the drives under a database server on this machine, by what
// the I/O was for: data that a session reads, data that checkpoints write, the log's writes and
// flushes. The kernel counts them in histograms (iotrace.bpf.c), which cost a few hundred
// nanoseconds per I/O; nothing is sent to ds2 for each. It knows no database: whose directories and
// processes are whose is said to it. What the times mean for a run is for others to say.
package iotrace

import (
	"iter"
	"structs"
	"time"
)

// Class is what an I/O was for. Reads of data are those that the server's processes make for its
// clients. Writes are told by the directory of the file, also those that the kernel makes later
// from its page cache. A flush is a process's wait for the drive's cache: of the log if it is a
// session or the log's writer, of data if it is the checkpointer.
type Class int

// Classes is how many there are, in the kernel's order: of each kind of file the reads, the writes
// and the flushes.
const Classes Class = 9

func (c Class) String() string {
	return []string{"data", "log", "other"}[c/3] + " " + []string{"read", "write", "flush"}[c%3]
}

// Directory is one with files of a server.
type Directory struct {
	Path string // with all below it, but for those that are named themselves
	Log  bool   // it holds the log, else data
}

// Buckets of a histogram of microseconds are those of HdrHistogram with two significant digits.
const (
	linear  = 256
	half    = linear / 2
	Buckets = linear + 24*half
)

// Histogram is how long I/Os took, laid out as in the kernel.
type Histogram struct {
	_      structs.HostLayout
	Sum    time.Duration // exact
	Counts [Buckets]uint64
}

// Since is what came after an earlier state of the histogram.
func (h Histogram) Since(was Histogram) Histogram {
	h.Sum -= was.Sum
	for i := range h.Counts {
		h.Counts[i] -= was.Counts[i]
	}
	return h
}

// All gives, of each bucket that counted any, the lowest number of microseconds and the count.
func (h Histogram) All() iter.Seq2[int64, uint64] {
	return func(yield func(int64, uint64) bool) {
		for i, n := range h.Counts {
			if n > 0 && !yield(micros(i), n) {
				return
			}
		}
	}
}

// micros is the lowest number of microseconds that bucket i counts.
func micros(i int) int64 {
	if i < linear {
		return int64(i)
	}
	shift := (i-linear)/half + 1
	return int64((i-linear)%half+half) << shift
}

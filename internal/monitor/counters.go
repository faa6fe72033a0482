package monitor

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
)

// FS is where a Linux kernel shows its counters.
type FS struct{ Proc, Sys string }

// Root is this machine's own.
var Root = FS{Proc: "/proc", Sys: "/sys"}

// diskFigures are the raw values of one device, in the order of diskCounts.
var diskFigures = []struct{ name, help string }{
	{"disk_reads_total", "Reads that the device completed."},
	{"disk_writes_total", "Writes that the device completed."},
	{"disk_read_bytes_total", "Bytes read from the device."},
	{"disk_written_bytes_total", "Bytes written to the device."},
	{"disk_read_seconds_total", "Sum of the times that reads took."},
	{"disk_write_seconds_total", "Sum of the times that writes took."},
	{"disk_busy_seconds_total", "Time during which the device had at least one request."},
	{"disk_queue_seconds_total", "Sum of the times that requests waited and were served; grows by the queue's length each second."},
}

// Places in diskFigures.
const (
	diskReads        = 0
	diskWrites       = 1
	diskReadSeconds  = 4
	diskWriteSeconds = 5
	diskBusySeconds  = 6
	diskQueueSeconds = 7
)

// diskCounts are the values of one device, in the order of diskFigures.
type diskCounts [8]float64

// disks are the counters of devices: requests and bytes each way, mean latency, queue length, share of busy time.
func disks(devices []string, read func() map[string]diskCounts) Source {
	src := Source{Name: "block devices"}
	for n, device := range devices {
		for _, f := range diskFigures {
			src.Figures = append(src.Figures, Figure{f.name, f.help, "device", device})
		}
		at := n * len(diskFigures)
		src.Columns = append(src.Columns,
			Column{ItemColumn(DiskReads, device), rate(at)},
			Column{ItemColumn(DiskWrites, device), rate(at + 1)},
			Column{ItemColumn(DiskReadBytes, device), rate(at + 2)},
			Column{ItemColumn(DiskWrittenBytes, device), rate(at + 3)},
			Column{ItemColumn(DiskReadTime, device), ratio(at+4, at)},
			Column{ItemColumn(DiskWriteTime, device), ratio(at+5, at+1)},
			Column{ItemColumn(DiskBusy, device), rate(at + 6)},
			Column{ItemColumn(DiskQueue, device), rate(at + 7)},
		)
	}
	src.Read = func(_ context.Context, values []float64) error {
		counts := read()
		for n, device := range devices {
			if c, ok := counts[device]; ok {
				copy(values[n*len(diskFigures):], c[:])
			}
		}
		return nil
	}
	return src
}

// cpuTimes is how long a processor worked, and how long it was idle while a request to a disk was under way, in seconds.
type cpuTimes struct{ busy, iowait float64 }

// cpu are the counters of the processors: busy and waiting for disks over all of them, and busy for each.
func cpu(ids []string, read func() map[string]cpuTimes) Source {
	src := Source{Name: "processors"}
	overall := func(i int) derivation {
		return func(seconds float64, was, now []float64) float64 {
			sum := 0.0
			for n := range ids {
				sum += rate(2*n+i)(seconds, was, now)
			}
			return sum / float64(len(ids))
		}
	}
	src.Columns = []Column{{CPUBusy, atMostOne(overall(0))}, {CPUIOWait, overall(1)}}
	for n, id := range ids {
		src.Figures = append(src.Figures,
			Figure{"cpu_busy_seconds_total", "Time that the processor worked, or that its hypervisor took from it.", "cpu", id},
			Figure{"cpu_iowait_seconds_total", "Time that the processor was idle while a request to a disk was under way.", "cpu", id})
		src.Columns = append(src.Columns, Column{ItemColumn(CPUBusy, id), atMostOne(rate(2 * n))})
	}
	src.Read = func(_ context.Context, values []float64) error {
		times := read()
		for n, id := range ids {
			if t, ok := times[id]; ok { // else it was taken offline
				values[2*n], values[2*n+1] = t.busy, t.iowait
			}
		}
		return nil
	}
	return src
}

// traffic is what an interface received and sent, in bytes.
type traffic struct{ received, sent float64 }

// network are the bytes in and out of each interface, and how much of its link's speed they use where speed, in bits a
// second, knows that.
func network(names []string, speed func(name string) (bits float64, ok bool), read func() map[string]traffic) Source {
	src := Source{Name: "network"}
	for n, name := range names {
		received, sent := rate(2*n), rate(2*n+1)
		src.Figures = append(src.Figures,
			Figure{"network_received_bytes_total", "Bytes that the interface received.", "interface", name},
			Figure{"network_sent_bytes_total", "Bytes that the interface sent.", "interface", name})
		src.Columns = append(src.Columns,
			Column{ItemColumn(NetworkReceived, name), received},
			Column{ItemColumn(NetworkSent, name), sent})
		if bits, ok := speed(name); ok {
			src.Columns = append(src.Columns, Column{ItemColumn(NetworkUsed, name),
				func(seconds float64, was, now []float64) float64 {
					return max(received(seconds, was, now), sent(seconds, was, now)) * 8 / bits
				}})
		}
	}
	src.Read = func(_ context.Context, values []float64) error {
		all := read()
		for n, name := range names {
			if t, ok := all[name]; ok { // else it was taken down
				values[2*n], values[2*n+1] = t.received, t.sent
			}
		}
		return nil
	}
	return src
}

// inOrder gives the names of a first reading, numbers by their size.
func inOrder[V any](of map[string]V) []string {
	return slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		n, errA := strconv.Atoi(a)
		m, errB := strconv.Atoi(b)
		if errA == nil && errB == nil {
			return cmp.Compare(n, m)
		}
		return cmp.Compare(a, b)
	})
}

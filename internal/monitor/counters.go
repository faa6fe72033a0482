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

// perItem is what is counted of each of several items: a figure, the column that is made of it, or both.
type perItem struct {
	figure, help, column string
	// derive makes the column's derivation of an item whose figures begin at a place, nil where it has none; by default
	// it is the rate of the figure.
	derive func(at int, item string) derivation
}

// gaugeOf, rateOf and ratioOf derive from figures by their places among an item's.
func gaugeOf(i int) func(at int, item string) derivation {
	return func(at int, _ string) derivation { return gauge(at + i) }
}

func rateOf(i int) func(at int, item string) derivation {
	return func(at int, _ string) derivation { return rate(at + i) }
}

func ratioOf(i, j int) func(at int, item string) derivation {
	return func(at int, _ string) derivation { return ratio(at+i, at+j) }
}

// itemSource reads the figures of items, of which an array each comes in their order; an item that is gone has none.
// The prefix stands before the items' names in columns.
func itemSource[V [2]float64 | [3]float64 | [6]float64 | diskCounts](name, label, prefix string, items []string, kinds []perItem, read func(ctx context.Context) (map[string]V, error)) Source {
	var counts V
	src, figures := Source{Name: name}, len(counts)
	for n, item := range items {
		for i, k := range kinds {
			if k.figure != "" {
				src.Figures = append(src.Figures, Figure{k.figure, k.help, label, item})
			}
			if k.derive == nil {
				k.derive = rateOf(i)
			}
			if derive := k.derive(n*figures, item); k.column != "" && derive != nil {
				src.Columns = append(src.Columns, Column{ItemColumn(k.column, prefix+item), derive})
			}
		}
	}
	src.Read = func(ctx context.Context, values []float64) error {
		all, err := read(ctx)
		for n, item := range items {
			if v, ok := all[item]; ok {
				for i := range figures {
					values[n*figures+i] = v[i]
				}
			}
		}
		return err
	}
	return src
}

// diskCounts are the figures of one device, in the order of diskKinds.
type diskCounts [8]float64

// diskKinds are requests and bytes each way, mean latency, share of busy time, queue length.
var diskKinds = []perItem{
	{"disk_reads_total", "Reads that the device completed.", DiskReads, nil},
	{"disk_writes_total", "Writes that the device completed.", DiskWrites, nil},
	{"disk_read_bytes_total", "Bytes read from the device.", DiskReadBytes, nil},
	{"disk_written_bytes_total", "Bytes written to the device.", DiskWrittenBytes, nil},
	{"disk_read_seconds_total", "Sum of the times that reads took.", DiskReadTime, ratioOf(4, 0)},
	{"disk_write_seconds_total", "Sum of the times that writes took.", DiskWriteTime, ratioOf(5, 1)},
	{"disk_busy_seconds_total", "Time during which the device had at least one request.", DiskBusy, nil},
	{"disk_queue_seconds_total", "Sum of the times that requests waited and were served; grows by the queue's length each second.", DiskQueue, nil},
}

// Places in diskKinds.
const (
	diskReads        = 0
	diskWrites       = 1
	diskReadSeconds  = 4
	diskWriteSeconds = 5
	diskBusySeconds  = 6
	diskQueueSeconds = 7
)

// disks are the counters of devices.
func disks(devices []string, kinds []perItem, read func() map[string]diskCounts) Source {
	return itemSource("block devices", "device", "", devices, kinds, func(context.Context) (map[string]diskCounts, error) { return read(), nil })
}

// cpu are the counters of the processors, of which each has the time that it worked and that it was idle while a
// request to a disk was under way: busy and waiting for disks over all of them, and busy for each.
func cpu(ids []string, read func() map[string][2]float64) Source {
	overall := func(i int) derivation {
		return func(seconds float64, was, now []float64) float64 {
			sum := 0.0
			for n := range ids {
				sum += rate(2*n+i)(seconds, was, now)
			}
			return sum / float64(len(ids))
		}
	}
	src := itemSource("processors", "cpu", "", ids, []perItem{
		{"cpu_busy_seconds_total", "Time that the processor worked, or that its hypervisor took from it.", CPUBusy,
			func(at int, _ string) derivation { return atMostOne(rate(at)) }},
		{figure: "cpu_iowait_seconds_total", help: "Time that the processor was idle while a request to a disk was under way."},
	}, func(context.Context) (map[string][2]float64, error) { return read(), nil })
	src.Columns = append([]Column{{CPUBusy, atMostOne(overall(0))}, {CPUIOWait, overall(1)}}, src.Columns...)
	return src
}

// network are the bytes in and out of each interface, and how much of its link's speed, in bytes a second, they use
// where that is known.
func network(names []string, speeds map[string]float64, read func() map[string][2]float64) Source {
	return itemSource("network", "interface", "", names, []perItem{
		{"network_received_bytes_total", "Bytes that the interface received.", NetworkReceived, nil},
		{"network_sent_bytes_total", "Bytes that the interface sent.", NetworkSent, nil},
		{column: NetworkUsed, derive: func(at int, name string) derivation {
			if !(speeds[name] > 0) {
				return nil
			}
			return func(seconds float64, was, now []float64) float64 {
				return max(rate(at)(seconds, was, now), rate(at+1)(seconds, was, now)) / speeds[name]
			}
		}},
	}, func(context.Context) (map[string][2]float64, error) { return read(), nil })
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

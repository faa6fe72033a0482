package sampling

import (
	"cmp"
	"context"
	_ "embed" // figures.tsv
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"

	"ds2/internal/datatable"
)

// kind is what is counted of an item or of several: a figure, the column that is made of it, or
// both.
type kind struct {
	figure, column string
	derive         derivation // from the item's figures; nil: the rate of this one
}

//go:embed figures.tsv
var figuresTable string

// helps say what each figure is, by its name.
var helps = readHelps()

func readHelps() map[string]string {
	all := map[string]string{}
	for _, row := range datatable.Rows(figuresTable, 2) {
		all[row[0]] = row[1]
	}
	return all
}

// add adds the figures of an item, which may have another name in columns, and gives the place of
// the first.
func (s *Source) add(label, item, inColumns string, kinds ...kind) (at int) {
	at = len(s.Figures)
	for _, k := range kinds {
		if k.figure != "" {
			s.Figures = append(s.Figures, Figure{k.figure, helps[k.figure], label, item})
		}
		if k.derive == nil {
			k.derive = rate(len(s.Figures) - at - 1)
		}
		if k.column != "" {
			s.Columns = append(s.Columns, Column{ItemColumn(k.column, inColumns), at, k.derive})
		}
	}
	return at
}

// readings are the figures of items by their names. An item that is gone has none.
type readings map[string][]float64

// items adds the figures of several, and gives what puts readings of them among the values.
func (s *Source) items(
	label string, names []string, kinds func(item string) []kind,
) (put func(values []float64, all readings)) {
	places := map[string]int{}
	for _, item := range names {
		places[item] = s.add(label, item, item, kinds(item)...)
	}
	return func(values []float64, all readings) {
		for item, at := range places {
			copy(values[at:], all[item])
		}
	}
}

// singleSource reads the figures of one thing, which may have another name in columns.
func singleSource(
	name, label, item, inColumns string,
	kinds []kind,
	read func(context.Context) ([]float64, error),
) Source {
	src := Source{Name: name, Read: func(ctx context.Context, values []float64) error {
		now, err := read(ctx)
		copy(values, now)
		return err
	}}
	src.add(label, item, inColumns, kinds...)
	return src
}

// itemSource reads the figures of items.
func itemSource(
	name, label string, items []string, kinds []kind, read func(context.Context) (readings, error),
) Source {
	src := Source{Name: name}
	put := src.items(label, items, func(string) []kind { return kinds })
	src.Read = func(ctx context.Context, values []float64) error {
		all, err := read(ctx)
		put(values, all)
		return err
	}
	return src
}

// diskKinds are requests and bytes each way, mean latency, share of busy time, queue length,
// flushes.
var diskKinds = []kind{
	{"disk_reads_total", DiskReads, nil},
	{"disk_writes_total", DiskWrites, nil},
	{"disk_read_bytes_total", DiskReadBytes, nil},
	{"disk_written_bytes_total", DiskWrittenBytes, nil},
	{"disk_read_seconds_total", DiskReadTime, ratio(4, 0)},
	{"disk_write_seconds_total", DiskWriteTime, ratio(5, 1)},
	{"disk_busy_seconds_total", DiskBusy, nil},
	{"disk_queue_seconds_total", DiskQueue, nil},
	{"disk_flushes_total", DiskFlushes, nil},
	{"disk_flush_seconds_total", DiskFlushTime, ratio(9, 8)},
	{"disk_journal_writes_total", DiskJournalWrites, nil},
}

// Places in diskKinds.
const (
	diskReads         = 0
	diskWrites        = 1
	diskReadSeconds   = 4
	diskWriteSeconds  = 5
	diskBusySeconds   = 6
	diskQueueSeconds  = 7
	diskFlushes       = 8
	diskFlushSeconds  = 9
	diskJournalWrites = 10
)

// cpuKinds are the time that a CPU worked, and that it was idle while a request to a disk was in
// flight.
var cpuKinds = []kind{
	{"cpu_busy_seconds_total", CPUBusy, atMostOne(rate(0))},
	{
		"cpu_iowait_seconds_total", "",
		nil,
	},
}

// meanOfCPUs is the mean rate of the i-th of the two figures of n CPUs.
func meanOfCPUs(i, cpus int) derivation {
	return func(seconds float64, was, now []float64) float64 {
		sum := 0.0
		for n := range cpus {
			sum += rate(2*n+i)(seconds, was, now)
		}
		return sum / float64(cpus)
	}
}

// linkKinds are the bytes in and out of an interface, and how much of its link's speed, in bytes a
// second, they use where that is known.
func linkKinds(speed float64) []kind {
	kinds := []kind{
		{"network_received_bytes_total", NetworkReceived, nil},
		{"network_sent_bytes_total", NetworkSent, nil},
	}
	if speed > 0 {
		kinds = append(
			kinds,
			kind{column: NetworkUsed, derive: func(seconds float64, was, now []float64) float64 {
				return max(rate(0)(seconds, was, now), rate(1)(seconds, was, now)) / speed
			}},
		)
	}
	return kinds
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

// Record reads how much the record of the run takes that ds2 writes into a directory.
func Record(dir string) Source {
	size := func(context.Context) (bytes float64, err error) {
		files, err := os.ReadDir(dir)
		if err != nil {
			return 0, fmt.Errorf("read size of the record: %w", err)
		}
		for _, file := range files {
			if info, err := file.Info(); err == nil { // else it was renamed meanwhile
				bytes += float64(info.Size())
			}
		}
		return bytes, nil
	}
	return GaugeSource("record", "client_record_bytes", ClientRecord, size)
}

// Scrub are the counters of scans in the background, all together: their requests, the bytes that
// these read, and the bytes that came from drives and not from the kernel's cache, NaN where that
// is unknown.
func Scrub(read func() (requests, bytes, device float64)) Source {
	kinds := []kind{
		{"scrub_requests_total", ScrubReads, nil},
		{"scrub_read_bytes_total", ScrubReadBytes, nil},
		{"scrub_device_bytes_total", ScrubDeviceBytes, nil},
	}
	return singleSource(
		"background scan",
		"",
		"",
		"",
		kinds,
		func(context.Context) ([]float64, error) {
			requests, bytes, device := read()
			return []float64{requests, bytes, device}, nil
		},
	)
}

// GaugeSource reads one figure, a state, which is the value of a column as it is.
func GaugeSource(
	name, figure, column string,
	read func(context.Context) (float64, error),
) Source {
	kinds := []kind{{figure, column, gauge(0)}}
	return singleSource(name, "", "", "", kinds, func(ctx context.Context) ([]float64, error) {
		value, err := read(ctx)
		return []float64{value}, err
	})
}

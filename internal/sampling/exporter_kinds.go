package sampling

import (
	"cmp"
	"context"
	_ "embed" // exporters.tsv
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"ds2/internal/datatable"
	"ds2/internal/topology"

	"github.com/prometheus/common/model"
)

//go:embed exporters.tsv
var exportersTable string

// exporterKind is how one kind of exporter names what columns are made of.
type exporterKind struct {
	metrics   map[string][]metric // of figures and of facts, the best first
	diskKinds []kind
	above     func(file, volume string) bool // whether a file lies there
}

// metric is one of an exporter, with the label that tells items apart or that is meant.
type metric struct{ name, label string }

// processors has the time of CPUs by mode, which every exporter of a machine shows.
const processors = "processors"

// nodeExporter shows what the kernel of this machine shows too.
var nodeExporter = &exporterKind{readMetrics(1), figureKinds["drive"], topology.Within}

// windowsExporter: Windows counts for each request how long it took, and the time in which a drive
// had none. The time for interrupts and deferred calls is part of the privileged time. The room is
// counted anew every quarter of an hour. Flushes it counts nowhere, not among the writes either.
var windowsExporter = &exporterKind{
	readMetrics(2), windowsDiskKinds(), func(file, volume string) bool {
		return len(file) >= len(volume) && strings.EqualFold(file[:len(volume)], volume)
	},
}

// volumesDriver shows the limits of volumes, and no machine.
var volumesDriver = &exporterKind{metrics: readMetrics(3)}

// windowsDiskKinds: how busy a drive was is what its idle time leaves.
func windowsDiskKinds() []kind {
	kinds := slices.Clone(figureKinds["drive"][:diskFlushes])
	idle := figureKinds["idle drive"][0]
	idle.derive = func(seconds float64, was, now []float64) float64 {
		return min(max(1-rate(diskBusySeconds)(seconds, was, now), 0), 1)
	}
	kinds[diskBusySeconds] = idle
	return kinds
}

// exporterKinds are those of machines that are known.
var exporterKinds = []*exporterKind{nodeExporter, windowsExporter}

// readMetrics gives the metrics of one column of the table.
func readMetrics(column int) map[string][]metric {
	all := map[string][]metric{}
	for _, row := range datatable.Rows(exportersTable, 4) {
		for field := range strings.FieldsSeq(row[column]) {
			name, label, _ := strings.Cut(strings.TrimSuffix(field, "}"), "{")
			all[row[0]] = append(all[row[0]], metric{name, label})
		}
	}
	return all
}

// metric is the best for a figure or a fact; the empty one, which nothing shows, where there is
// none.
func (k *exporterKind) metric(of string) metric {
	if len(k.metrics[of]) == 0 {
		return metric{}
	}
	return k.metrics[of][0]
}

// valuesOf gives the values of a figure or a fact by its label.
func (k *exporterKind) valuesOf(x exposition, of string) map[string]float64 {
	m := k.metric(of)
	return x.valuesBy(m.name, m.label)
}

// sum is that of the first metric of a figure or a fact that is shown; NaN where none is.
func (k *exporterKind) sum(x exposition, of string) float64 {
	for _, m := range k.metrics[of] {
		if sum := sumValues(x[m.name]); !math.IsNaN(sum) {
			return sum
		}
	}
	return math.NaN()
}

// counted is what a machine shows at a time.
type counted struct {
	drives, cpus, links readings           // in the order of figures.tsv
	speeds              map[string]float64 // of links, in bytes a second
	// by column, what is of all of it; what it does not tell is missing
	machine map[string]float64
}

// counted is what an exporter shows.
func (k *exporterKind) counted(x exposition) counted {
	const clock, heat = "node_cpu_scaling_frequency_hertz", "node_thermal_zone_temp"
	times := slices.Clone(x[k.metric(processors).name])
	other := func(s *model.Sample) bool { return s.Metric["mode"] != "steal" }
	stolen := slices.DeleteFunc(times, other)
	c := counted{
		k.disks(x),
		k.cpus(x),
		k.read(x, figureKinds["link"]),
		k.valuesOf(x, "link speed"),
		map[string]float64{
			MemoryAvailable: k.sum(x, "memory_available_bytes"),
			CPUSteal:        sumValues(stolen),
			CPUFrequency:    sumValues(x[clock]) / float64(len(x[clock])),
			CPUThrottles: sumValues(x["node_cpu_core_throttles_total"]) +
				sumValues(x["node_cpu_package_throttles_total"]),
			Temperature: foldValues(x[heat], math.Max),
		},
	}
	maps.DeleteFunc(c.machine, func(_ string, v float64) bool { return math.IsNaN(v) })
	return c
}

// newSource has the columns that the machine itself would give, of these drives or, without any,
// all. Its figures come from what show shows, first at first. How the flushes of drives stand among
// their writes is given.
func (k *exporterKind) newSource(
	first counted,
	devices []string,
	flushes map[string]topology.Flushing,
	show func(context.Context) (counted, error),
) (src Source, err error) {
	shown := inOrder(first.drives)
	for _, d := range devices {
		if !slices.Contains(shown, d) {
			return src, fmt.Errorf("shows no device %s, only %s", d, strings.Join(shown, ", "))
		}
	}
	if len(devices) == 0 {
		devices = topology.DrivesAmong(shown)
	}
	// Where flushes have counters, the empty ones are among the writes.
	if len(k.diskKinds) > diskFlushes {
		src.writes = map[string]*writeCounter{}
		for _, d := range devices {
			f := flushes[d]
			if !f.Through && f.Unknown == "" && math.IsNaN(first.drives[d][diskFlushes]) {
				f.Unknown = "its kernel counts no flushes, as Linux does since 5.5, and so shows them as writes"
			}
			src.writes[d] = &writeCounter{Flushing: f}
		}
	}
	putDrives := src.items("device", devices, func(string) []kind { return k.diskKinds })

	cpus := inOrder(first.cpus)
	n := len(cpus)
	busy := Column{CPUBusy, len(src.Figures), atMostOne(meanOfCPUs(0, n))}
	src.Columns = append(src.Columns, busy)
	// Windows has no time in which an idle CPU waits for a drive.
	tellsWait := func(cpu string) bool { return !math.IsNaN(first.cpus[cpu][1]) }
	if slices.ContainsFunc(cpus, tellsWait) {
		src.Columns = append(src.Columns, Column{CPUIOWait, len(src.Figures), meanOfCPUs(1, n)})
	}
	putCPUs := src.items("cpu", cpus, func(string) []kind { return figureKinds["cpu"] })

	places := map[string]int{MemoryAvailable: src.add("", "", "", figureKinds["memory"]...)}
	ofLink := func(link string) []kind { return linkKinds(first.speeds[link]) }
	putLinks := src.items("interface", inOrder(first.links), ofLink)
	// What makes the same CPUs faster or slower from one run to the next, where it is shown.
	for _, k := range figureKinds["machine"] {
		if k.column == CPUSteal {
			k.derive = share(0, float64(n))
		}
		if _, told := first.machine[k.column]; told {
			places[k.column] = src.add("", "", "", k)
		}
	}
	src.Read = func(ctx context.Context, values []float64) error {
		now, err := show(ctx) // what could be read counts
		for drive, counter := range src.writes {
			if counts, shown := now.drives[drive]; shown {
				counter.countWrites(counts)
			}
		}
		putDrives(values, now.drives)
		putCPUs(values, now.cpus)
		putLinks(values, now.links)
		for column, v := range now.machine {
			if at, shown := places[column]; shown {
				values[at] = v
			}
		}
		return err
	}
	return src, nil
}

// read gives the figures of each item in the order of their kinds, NaN where there is none.
func (k *exporterKind) read(x exposition, kinds []kind) readings {
	all := readings{}
	for i, figure := range kinds {
		for item, v := range k.valuesOf(x, figure.figure) {
			if all[item] == nil {
				all[item] = unknown(len(kinds))
			}
			all[item][i] = v
		}
	}
	delete(all, "lo")     // no link
	delete(all, "_Total") // no drive of Windows
	return all
}

// disks are the counters of the drives. A queue that is not told is the time that all requests
// took: as many of them were under way on average.
func (k *exporterKind) disks(x exposition) readings {
	all := k.read(x, k.diskKinds)
	for _, counts := range all {
		if k.metric("disk_queue_seconds_total") == (metric{}) {
			counts[diskQueueSeconds] = counts[diskReadSeconds] + counts[diskWriteSeconds]
		}
	}
	joinPaths(all)
	return all
}

// joinPaths leaves in counts the drives only: one that counts nothing itself has what its paths
// count.
func joinPaths(counts readings) {
	paths := readings{}
	for name, path := range counts {
		parts := topology.NVMePath.FindStringSubmatch(name)
		if parts == nil {
			continue
		}
		delete(counts, name)
		drive := parts[1] + parts[2]
		sum, several := paths[drive]
		if !several {
			paths[drive] = path
			continue
		}
		for i, v := range path {
			sum[i] += v
		}
		sum[diskBusySeconds] = math.NaN() // they may be busy at once, or one after the other
	}
	for name, c := range counts {
		// The kernel reads every drive when it finds it, so one without any request is not counted.
		if topology.NVMeDrive.MatchString(name) && !(c[diskReads] > 0) && !(c[diskWrites] > 0) {
			counts[name] = unknown(len(c))
		}
	}
	for name, sum := range paths {
		if c, counted := counts[name]; !counted || math.IsNaN(c[diskReads]) {
			counts[name] = sum
		}
	}
}

// cpus are the times of each CPU, which an exporter shows by mode, in the order of cpuKinds.
func (k *exporterKind) cpus(x exposition) readings {
	all := readings{}
	times := k.metric(processors)
	for _, m := range x[times.name] {
		id := string(m.Metric[model.LabelName(times.label)])
		mode := string(m.Metric["mode"])
		if all[id] == nil {
			all[id] = []float64{0, math.NaN()}
		}
		switch {
		case mode == "iowait":
			all[id][1] = float64(m.Value)
		case slices.Contains(k.metrics["busy modes"], metric{name: mode}):
			all[id][0] += float64(m.Value)
		}
	}
	return all
}

// machine describes a machine by what its exporter shows.
func (k *exporterKind) machine(x exposition) topology.Machine {
	label := func(fact string) (text string) {
		for _, m := range k.metrics[fact] {
			for _, shown := range x[m.name] {
				text = cmp.Or(text, string(shown.Metric[model.LabelName(m.label)]))
			}
		}
		return text
	}
	return topology.Machine{
		Hostname:    label("hostname"),
		Vendor:      topology.Cloud(label("vendor"), label("chassis")),
		Product:     label("product"),
		System:      label("system"),
		Kernel:      label("kernel"),
		Processor:   label("processor"),
		Processors:  len(k.valuesOf(x, processors)),
		MemoryBytes: int64(orZero(k.sum(x, "memory"))),
	}
}

// findRoom is the room on the file system of a file, which is that of the longest mount point, or
// volume, above it; NaN where that is not known.
func (k *exporterKind) findRoom(x exposition, file string) (free float64, mount string) {
	free = math.NaN()
	for point, bytes := range k.valuesOf(x, "room") {
		if k.above(file, point) && len(point) >= len(mount) {
			free = bytes
			mount = point
		}
	}
	return free, mount
}

package conclude

import (
	"cmp"
	_ "embed"
	"math"
	"strconv"

	"ds2/internal/datatable"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// costsPerOrder takes the costs per order from the samples of the window.
func (v view) costsPerOrder(power *result.Power) *result.Costs {
	c := result.Costs{
		Reads:        v.totalOf(sampling.DiskReads),
		Writes:       v.totalOf(sampling.DiskWrites),
		ReadBytes:    v.totalOf(sampling.DiskReadBytes),
		WrittenBytes: v.totalOf(sampling.DiskWrittenBytes),
		LogBytes:     v.totalOf(sampling.DatabaseLogBytes),
		ClientCPU:    v.meanOf(sampling.ClientOwn),
		ServerCPU:    v.totalOf(sampling.ServerProcessors),
		Joules:       cmp.Or(power, new(result.Power)).Active,
	}
	// Requests of a drive overlap, so these may be more than a second each second: it is what an
	// order asks of the drives, not for how long it waits.
	for _, requests := range []struct{ rates, times string }{
		{sampling.DiskReads, sampling.DiskReadTime},
		{sampling.DiskWrites, sampling.DiskWriteTime},
		{sampling.DiskFlushes, sampling.DiskFlushTime},
	} {
		for _, rate := range v.Counters.Items(requests.rates) {
			_, item := sampling.SplitColumn(rate)
			time := v.secondsTaken(rate, sampling.ItemColumn(requests.times, item))
			c.DeviceSeconds = combineKnown(add, c.DeviceSeconds, time)
		}
	}
	// Where the server's processes cannot be seen, all that its machine was busy with stands for
	// them, less what ds2 itself took of the same CPUs.
	if busy := v.meanOf(sampling.CPUBusy); c.ServerCPU == nil && busy != nil && v.Machine != nil {
		c.ServerCPU = new(*busy * float64(v.Machine.Processors))
		if v.Local && c.ClientCPU != nil {
			c.ServerCPU = new(max(*c.ServerCPU-*c.ClientCPU, 0))
		}
	}
	// So far these are a second; an order's are by the orders completed a second.
	return c.Per(float64(v.window.Counts.Orders) / (v.window.To - v.window.From))
}

// secondsTaken is how many seconds requests of a drive take, each second: how many there are, and
// the mean time of each. It is nil where these are not known.
func (v view) secondsTaken(rates, times string) *float64 {
	rate := v.Counters.Mean(rates, v.from, v.to)
	if rate == 0 && v.Counters.Values(times) != nil {
		return new(0.) // there is no mean of no requests
	}
	return measure.Known(rate * v.Counters.Mean(times, v.from, v.to))
}

// cacheHits is the share of the pages that all databases asked for and found in their server's
// cache; of those that do not count how many they asked for, the mean.
func (v view) cacheHits(column string) *float64 {
	sum := 0.
	weights := 0.
	for _, item := range v.Counters.Items(column) {
		share := v.meanOf(item)
		_, database := sampling.SplitColumn(item)
		lookups := v.meanOf(sampling.ItemColumn(sampling.DatabaseCacheLookups, database))
		if share == nil {
			continue
		}
		weight := *cmp.Or(lookups, new(1.))
		sum += *share * weight
		weights += weight
	}
	return measure.Known(sum / weights)
}

// surroundings are what is asked of a run's surroundings, as far as they were observed.
//
//go:embed conditions.tsv
var surroundings string

// takes are the ways in which a column of surroundings comes to one figure of a run.
var takes = map[string]func(v view, column string) *float64{
	"total":   view.totalOf,
	"highest": view.highestOf,
	"mean":    view.meanOf,
	"hits":    view.cacheHits,
}

// conditions are figures by which runs are compared.
type conditions []result.Condition

// add adds one, in a unit that is scale times as fine; nil is not known.
func (all *conditions) add(name string, value *float64, scale float64, unit string) {
	if value != nil {
		*all = append(*all, result.Condition{Name: name, Value: *value * scale, Unit: unit})
	}
}

func (v view) listConditions() (all conditions) {
	for _, row := range datatable.Rows(surroundings, 5) {
		scale, _ := strconv.ParseFloat(row[3], 64) // the table is ours, and a test reads it
		all.add(row[0], takes[row[4]](v, row[1]), scale, row[2])
	}
	// as limits of the same names judge it
	latency := func(name string, role topology.Role, write bool) {
		kind := sampling.IOKind{Role: role, Write: write, Over: sampling.Interval}
		all.add(name, measure.Known(v.drives().Slowest(kind).Mean), 1e3, "ms")
	}
	latency(result.ReadLatency, "", false)
	latency(result.WriteLatency, "", true)
	latency(result.LogWriteLatency, topology.Log, true)
	// In the window, not a second: whether a run had one checkpoint or two explains much of how it
	// differs from its twin.
	all.add("checkpoints", v.totalOf(sampling.DatabaseCheckpoints), v.window.To-v.window.From, "")
	all.add(result.FailedAttempts, new(float64(v.window.Errors)), 1, "")
	var written, hottest, worn *float64 // over the whole run, of the drives that tell
	for _, d := range v.SMART {
		written = combineKnown(add, written, d.HostBytes)
		hottest = combineKnown(math.Max, hottest, d.After.Temperature)
		worn = combineKnown(math.Max, worn, d.After.Wear)
	}
	all.add("written to the drives, by SMART", written, 1e-6, "MB")
	all.add("temperature of the hottest drive", hottest, 1, "°C")
	all.add("wear of the most worn drive", worn, 100, "%")
	if d := v.Device; d != nil { // next to which a run's own requests are read
		all.add(result.LimitOfReads, new(d.MaxReads()), 1, "a second")
		all.add(result.LimitOfLogWrites, &d.Log.IOPS, 1, "a second")
	}
	return all
}

// meanOf is that of a column over the window; nil where it is not known.
func (v view) meanOf(column string) *float64 {
	return measure.Known(v.Counters.Mean(column, v.from, v.to))
}

// totalOf is the sum of the means of all items of a column; nil where there are none.
func (v view) totalOf(column string) *float64 { return v.overItems(add, column) }

// highestOf is the highest of the means of all items of a column; nil where there are none.
func (v view) highestOf(column string) *float64 { return v.overItems(math.Max, column) }

func add(a, b float64) float64 { return a + b }

// overItems is what f makes of the means of all items of a column.
func (v view) overItems(f func(a, b float64) float64, column string) (all *float64) {
	for _, item := range v.Counters.Items(column) {
		all = combineKnown(f, all, v.meanOf(item))
	}
	return all
}

func (v view) drives() sampling.Drives {
	return sampling.Drives{Counters: v.Counters, Machine: v.Machine, From: v.from, To: v.to}
}

// combineKnown is what f makes of two figures; where one is not known, the other.
func combineKnown(f func(a, b float64) float64, a, b *float64) *float64 {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return new(f(*a, *b))
}

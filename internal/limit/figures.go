package limit

import (
	"fmt"
	"math"
	"strings"
	"time"

	"ds2/internal/measure"
	"ds2/internal/monitor"
)

// maxOver is the time over whose means the maxima of data and log are taken, as Jetstress does (WORKLOAD.md section 7).
const maxOver = 15 * time.Second

// drives are the drives that a figure is of, and how it is taken.
type drives struct {
	role    monitor.Role // empty: all drives
	rate    string       // columns
	latency string
	over    time.Duration // of the means whose highest is the maximum
}

var drivesOf = map[string]drives{
	"device read":  {"", monitor.DiskReads, monitor.DiskReadTime, monitor.Interval},
	"device write": {"", monitor.DiskWrites, monitor.DiskWriteTime, monitor.Interval},
	"data read":    {monitor.Data, monitor.DiskReads, monitor.DiskReadTime, maxOver},
	"data write":   {monitor.Data, monitor.DiskWrites, monitor.DiskWriteTime, maxOver},
	"log read":     {monitor.Log, monitor.DiskReads, monitor.DiskReadTime, maxOver},
	"log write":    {monitor.Log, monitor.DiskWrites, monitor.DiskWriteTime, maxOver},
}

// Of gives the figures of a window of a run whose first orders started at start. Response times are those of the
// intervals that lie in the window; "errors" is failed attempts for each order begun. "device", "data" and "log" are the
// slowest drive in counters, of all or of those that have the role on machine: the mean is over requests, the max the
// highest mean of a second (device) or of 15 s (data, log). "iops" is the reads and writes a second of the data's drives.
func Of(series measure.Series, w measure.Window, counters monitor.Table, start time.Time, machine *monitor.Machine) (Figures, error) {
	span := measure.Span{From: seconds(w.From), To: seconds(w.To)}
	times, err := series.Distributions(span)
	if err != nil {
		return nil, fmt.Errorf("judge limits: %w", err)
	}
	var browses []measure.Distribution
	for name, d := range times {
		if strings.HasPrefix(name, "browse_") {
			browses = append(browses, d)
		}
	}
	if len(browses) > 0 {
		times["browse"] = measure.Merge("browse", browses...)
	}
	seen := observed{counters, machine, start.Add(span.From), start.Add(span.To)}
	return func(m Metric) (float64, bool) {
		switch m.Subject {
		case "opm":
			return w.OPM, true
		case "errors":
			begun := w.Counts.Orders + w.Counts.GivenUp
			return float64(w.Errors) / float64(begun), begun > 0
		case "iops":
			return seen.iops()
		}
		if d, ok := drivesOf[m.Subject]; ok {
			return seen.slowest(d, m.Stat)
		}
		d, measured := times[m.Subject]
		if !measured {
			return 0, false
		}
		if q, ok := m.Quantile(); ok {
			return d.Quantile(q).Seconds(), true
		}
		return d.Mean().Seconds(), true
	}, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// observed is what the counters say of the drives, after from and up to to.
type observed struct {
	counters monitor.Table
	machine  *monitor.Machine
	from, to time.Time
}

// each calls f with each drive that has a column and a role; the empty role is every drive's.
func (o observed) each(column string, role monitor.Role, f func(drive string)) {
	for _, name := range o.counters.Items(column) {
		if _, drive := monitor.SplitColumn(name); role == "" || o.machine.Holds(drive, role) {
			f(drive)
		}
	}
}

// iops is the reads and writes a second of the drives that hold data.
func (o observed) iops() (sum float64, measured bool) {
	for _, rate := range []string{monitor.DiskReads, monitor.DiskWrites} {
		o.each(rate, monitor.Data, func(drive string) {
			if mean := o.counters.Mean(monitor.ItemColumn(rate, drive), o.from, o.to); !math.IsNaN(mean) {
				sum += mean
				measured = true
			}
		})
	}
	return sum, measured
}

// slowest is the highest latency of the drives: the mean over all their requests, or the highest mean of d.over.
func (o observed) slowest(d drives, stat string) (worst float64, measured bool) {
	o.each(d.rate, d.role, func(drive string) {
		rates := o.counters.Values(monitor.ItemColumn(d.rate, drive))
		latencies := o.counters.Values(monitor.ItemColumn(d.latency, drive))
		var all, part struct{ requests, time float64 }
		longest, end := 0.0, o.from.Add(d.over)
		for i, latency := range latencies {
			at := o.counters.Rows[i].Time
			if !at.After(o.from) || at.After(o.to) || math.IsNaN(latency) || math.IsNaN(rates[i]) {
				continue
			}
			// Samples come a little late, so a part ends with the one that is nearest to its end.
			for at.After(end.Add(monitor.Interval / 2)) {
				part.requests, part.time = 0, 0
				end = end.Add(d.over)
			}
			all.requests += rates[i]
			all.time += rates[i] * latency
			part.requests += rates[i]
			part.time += rates[i] * latency
			if complete := !at.Before(end.Add(-monitor.Interval/2)) || d.over == monitor.Interval; complete && part.requests > 0 {
				longest = max(longest, part.time/part.requests)
			}
		}
		if all.requests == 0 {
			return
		}
		measured = true
		mean := all.time / all.requests
		if stat == "max" {
			mean = max(mean, longest) // a window shorter than one part has its mean for a maximum
		}
		worst = max(worst, mean)
	})
	return worst, measured
}

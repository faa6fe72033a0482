package limit

import (
	"fmt"
	"math"
	"time"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// Of gives the figures of a window of a run whose first orders started at start. Response times are
// those of the intervals that lie in the window; "errors" is failed attempts for each order begun,
// "dropped" the share of the orders due that an open loop never began. "device", "data" and "log"
// are the slowest drive in counters, of all or of those that have the role on machine: the mean is
// over requests, the max the highest mean of a second (device) or of 15 s (data, log). "iops" is
// the reads and writes a second of the data's drives. A cycle of users, such as an order, goes by
// the name that its workload has for it.
func Of(
	words result.Words,
	series measure.Series,
	w measure.Window,
	counters sampling.Table,
	start time.Time,
	machine *topology.Machine,
) (Figures, error) {
	span := measure.Span{From: measure.Seconds(w.From), To: measure.Seconds(w.To)}
	all, err := series.Distributions(span)
	if err != nil {
		return nil, fmt.Errorf("judge limits: %w", err)
	}
	times := all.Operations
	if whole, some := times[measure.WholeOrder]; some {
		delete(times, measure.WholeOrder)
		times[words.Cycle] = whole
	}
	for group, operations := range words.Groups {
		var some []measure.Distribution
		for _, name := range operations {
			if d, known := times[name]; known {
				some = append(some, d)
			}
		}
		if len(some) > 0 {
			times[group] = measure.Merge(group, some...)
		}
	}
	seen := sampling.Drives{
		Counters: counters,
		Machine:  machine,
		From:     start.Add(span.From),
		To:       start.Add(span.To),
	}
	ofWindow := map[string]float64{
		"opm":     w.OPM,
		"errors":  w.ErrorShare(),
		"dropped": w.DroppedShare(),
	}
	return func(m Metric) (value float64, atLeast, measured bool) {
		if value, ok := ofWindow[m.Subject]; ok {
			return value, false, !math.IsNaN(value)
		}
		if m.Subject == "iops" {
			iops, measured := seen.IOPS()
			return iops, false, measured
		}
		if m.Traced() {
			return statistic(m.Stat, sampling.IOsFor(m.Subject, all.IO))
		}
		if io := subjects[m.Subject].io; io != nil {
			mean, longest, measured := seen.Slowest(*io)
			if m.Stat == "max" {
				return longest, false, measured
			}
			return mean, false, measured
		}
		return statistic(m.Stat, times[m.Subject])
	}, nil
}

// statistic is that of some times; it is not measured where there are none.
func statistic(stat string, d measure.Distribution) (value float64, atLeast, measured bool) {
	switch q, isPercentile := percentile(stat); {
	case d.Name == "":
		return 0, false, false
	case isPercentile:
		return d.Quantile(q).Seconds(), d.AtLeast(q), true
	case stat == "max":
		return d.Quantile(1).Seconds(), d.AtLeast(1), true
	}
	return d.Mean().Seconds(), d.MeanAtLeast(), true
}

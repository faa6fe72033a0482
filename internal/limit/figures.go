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

// Source is what a run recorded, of which limits take their figures.
type Source struct {
	Words    result.Words
	Series   measure.Series
	Counters sampling.Table
	Start    time.Time // of the first orders
	Machine  *topology.Machine
}

// Figures gives those of a window. Response times are those of the intervals that lie in the
// window; "errors" is failed attempts for each order begun, "dropped" the share of the orders due
// that an open loop never began. "device", "data" and "log" are the slowest drive in counters, of
// all or of those that have the role on machine: the mean is over requests, the max the highest
// mean of a second (device) or of 15 s (data, log). "iops" is the reads and writes a second of the
// data's drives. A cycle of users, such as an order, goes by the name that its workload has for it.
func (s Source) Figures(w measure.Window) (Figures, error) {
	span := measure.Span{From: measure.Seconds(w.From), To: measure.Seconds(w.To)}
	all, err := s.Series.Distributions(span)
	if err != nil {
		return nil, fmt.Errorf("judge limits: %w", err)
	}
	times := all.Operations
	// What a limit calls a cycle, such as an order or a transaction, is the workload's word for it.
	if whole, some := times[measure.WholeOrder]; some {
		delete(times, measure.WholeOrder)
		times[s.Words.Cycle] = whole
	}
	// A percentile of several operations is of all their times: those of each cannot be averaged.
	for group, operations := range s.Words.Groups {
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
		Counters: s.Counters,
		Machine:  s.Machine,
		From:     s.Start.Add(span.From),
		To:       s.Start.Add(span.To),
	}
	ofWindow := map[string]float64{
		"opm":     w.OPM,
		"errors":  w.ErrorShare(),
		"dropped": w.DroppedShare(),
	}
	return func(m Metric) (f Figure, measured bool) {
		if value, ok := ofWindow[m.Subject]; ok {
			return Figure{Value: value}, !math.IsNaN(value)
		}
		if m.Subject == "iops" {
			iops := seen.IOPS()
			return Figure{Value: iops}, !math.IsNaN(iops)
		}
		if m.Traced() {
			return statistic(m.Stat, sampling.IOsFor(m.Subject, all.IO))
		}
		if io := subjects[m.Subject].io; io != nil {
			latency := seen.Slowest(*io)
			if m.Stat == "max" {
				latency.Mean = latency.Longest
			}
			return Figure{Value: latency.Mean}, !math.IsNaN(latency.Mean)
		}
		return statistic(m.Stat, times[m.Subject])
	}, nil
}

// WithIntervals gives the figures of a window with the intervals that they would have in the long
// run: OPM that of the window, the others by the same figure in parts of the window. Of what is
// judged by what was seen alone there is none.
func (s Source) WithIntervals(w measure.Window) (Figures, error) {
	whole, err := s.Figures(w)
	if err != nil {
		return nil, err
	}
	// A percentile has no variance that its samples give: how it differs from part to part is that.
	var parts []Figures
	for _, span := range s.Series.Parts(measure.Seconds(w.From), measure.Seconds(w.To)) {
		part, err := s.Figures(measure.Window{From: span.From.Seconds(), To: span.To.Seconds()})
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return func(m Metric) (f Figure, measured bool) {
		f, measured = whole(m)
		switch {
		case !measured || f.AtLeast || m.asSeen():
		case m.Subject == "opm":
			f.Half = w.CI95
		default:
			var values []float64
			for _, part := range parts {
				if of, some := part(m); some {
					values = append(values, of.Value)
				}
			}
			f.Half = measure.HalfByParts(values)
		}
		return f, measured
	}, nil
}

// statistic is that of some times; it is not measured where there are none.
func statistic(stat string, d measure.Distribution) (f Figure, measured bool) {
	if d.Name == "" {
		return f, false
	}
	if stat == "mean" {
		return Figure{Value: d.Mean().Seconds(), AtLeast: d.AtLeast(1)}, true
	}
	q, isPercentile := percentile(stat)
	if !isPercentile {
		q = 1 // the maximum
	}
	return Figure{Value: d.Quantile(q).Seconds(), AtLeast: d.AtLeast(q)}, true
}

package limit

import (
	"fmt"
	"math"
	"strings"
	"time"

	"ds2/internal/measure"
	"ds2/internal/monitor"
)

// Of gives the figures of a window of a run whose first orders started at start. Response times are those of the
// intervals that lie in the window; "errors" is failed attempts for each order begun. "device read" and "device write"
// are the slowest of the devices in counters: their mean is over operations, their max the highest one-second mean.
func Of(series measure.Series, w measure.Window, counters monitor.Table, start time.Time) (Figures, error) {
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
	return func(m Metric) (float64, bool) {
		switch m.Subject {
		case "opm":
			return w.OPM, true
		case "errors":
			begun := w.Counts.Orders + w.Counts.GivenUp
			return float64(w.Errors) / float64(begun), begun > 0
		case "device read":
			return slowest(counters, monitor.DiskReads, monitor.DiskReadTime, m.Stat, start.Add(span.From), start.Add(span.To))
		case "device write":
			return slowest(counters, monitor.DiskWrites, monitor.DiskWriteTime, m.Stat, start.Add(span.From), start.Add(span.To))
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

// slowest is the highest latency of all devices, from how many requests there were a second and
// how long they took, after from and up to to.
func slowest(t monitor.Table, rate, latency, stat string, from, to time.Time) (float64, bool) {
	worst, measured := 0.0, false
	for _, column := range t.Items(rate) {
		_, device := monitor.SplitColumn(column)
		rates, latencies := t.Values(column), t.Values(monitor.ItemColumn(latency, device))
		var number, sum, longest float64
		for i := range latencies {
			if at := t.Rows[i].Time; at.After(from) && !at.After(to) && !math.IsNaN(latencies[i]) {
				number += rates[i]
				sum += rates[i] * latencies[i]
				longest = max(longest, latencies[i])
			}
		}
		if number == 0 {
			continue
		}
		measured = true
		if stat == "max" {
			worst = max(worst, longest)
		} else {
			worst = max(worst, sum/number)
		}
	}
	return worst, measured
}

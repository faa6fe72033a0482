package mailbox

import (
	"fmt"
	"math"
	"strings"
	"time"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/topology"

	"gonum.org/v1/gonum/stat"
)

// How a window is divided to show what changed over it: by the hour, a short one into tenths, and
// one that is shorter yet not at all.
const (
	partLength   = time.Hour
	tenths       = 10
	hourlyFrom   = tenths * partLength / 2 // fewer hours would be fewer parts than tenths
	shortestPart = time.Minute
	trendLevel   = 0.01
)

// trendHead are the columns; the longest times are over means of 15 s.
const trendHead = "from, to, IOPS, reads/s, writes/s, log writes/s, transactions/s, data read ms, max, log write ms, max, database MB"

// describeTrend is what the drives did in the parts of the first window, one after the other, with
// whether their I/Os a second went up or down.
func (r run) describeTrend(windows []measure.Window) []result.Section {
	if r.Storage == nil || len(windows) == 0 {
		return nil
	}
	from := measure.Seconds(windows[0].From)
	to := measure.Seconds(windows[0].To)
	part := (to - from) / tenths
	if to-from >= hourlyFrom {
		part = partLength
	}
	if part < shortestPart {
		return nil
	}
	head := strings.Split(trendHead, ", ")
	t := result.Section{Title: "Over time", Head: head}
	var at, iops []float64
	var parts []float64 // IOPS, those that were not measured included
	for begin := from; begin+part <= to+time.Second; begin += part {
		end := min(begin+part, to)
		seen := r.drivesDuring(r.Start.Add(begin), r.Start.Add(end))
		d, err := seen.Storage()
		if err != nil {
			parts = append(parts, math.NaN())
			continue
		}
		at = append(at, begin.Hours())
		iops = append(iops, d.IOPS)
		parts = append(parts, d.IOPS)
		row := []string{clockText(begin), clockText(end)}
		rate := transactionRate(r.Series, begin, end)
		for _, v := range []float64{d.IOPS, d.Reads, d.Writes, d.LogWrites, rate} {
			row = append(row, formatDecimals(v, 1))
		}
		kinds := []sampling.IOKind{{Role: topology.Data}, {Role: topology.Log, Write: true}}
		for _, kind := range kinds {
			kind.Over = sampling.VerdictMeans
			latency := seen.Slowest(kind) // Longest: of the means of 15 s
			row = append(row, formatMilliseconds(&latency.Mean))
			row = append(row, formatMilliseconds(&latency.Longest))
		}
		t.Rows = append(t.Rows, append(row, megabytesText(seen)))
	}
	if rho, p := measure.Correlation(at, iops); !math.IsNaN(rho) {
		found := "IOPS have no trend over the window"
		if p < trendLevel {
			slope, _ := measure.Slope(parts)
			change := 100 * slope * float64(len(parts)-1) / stat.Mean(iops, nil)
			const trend = "IOPS have a trend of %+.1f %% from the first to the last part of the window"
			found = fmt.Sprintf(trend, change)
		}
		t.Notes = []string{fmt.Sprintf("%s, by %d parts (%s).",
			found, len(at), measure.Significance(p, trendLevel))}
	}
	return []result.Section{t}
}

// clockText is a time since the first transactions as h:mm:ss, as Jetstress prints it.
func clockText(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// transactionRate is how many transactions were completed a second.
func transactionRate(series measure.Series, from, to time.Duration) float64 {
	n := int64(0)
	for _, sample := range series.Samples {
		if sample.End > from && sample.End <= to {
			n += sample.Counts.Orders
		}
	}
	return float64(n) / (to - from).Seconds()
}

// megabytesText is the size of all databases.
func megabytesText(d sampling.Drives) string {
	sum := 0.0
	for _, column := range d.Counters.Items(sampling.DatabaseSize) {
		sum += d.Counters.Mean(column, d.From, d.To)
	}
	if sum == 0 {
		sum = math.NaN()
	}
	return formatDecimals(sum/1e6, 0)
}

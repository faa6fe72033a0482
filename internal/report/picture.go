package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"ds2/internal/compare"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// charts are the picture of a comparison, a column for each of some configurations, the curves of
// what its devices can do and how far its runs took them, and the curves of all runs, laid over
// each other.
func (c comparison) charts(id string, columns []compare.Configuration) (all []chart, err error) {
	if len(columns) == 0 {
		return nil, nil
	}
	// The figures that storage is bought by: rate, response time, power and what a watt gives.
	for _, name := range []string{compare.Main, "order_p95_ms", "active_w", compare.PerWatt} {
		all = append(all, drawn(c.barChart(id, compare.MetricNamed(name), columns))...)
	}
	var curves []curve // of a run whose record is not there any more nothing is drawn
	var devices []Device
	for i, one := range c.Configurations {
		d := Device{Name: one.Name, runs: one.Runs}
		for _, r := range one.Runs {
			record, err := one.Read.Run(filepath.Join(one.Dir, r.Dir))
			if err == nil && r.Figure != nil && len(record.Windows) > 0 &&
				len(record.Series.Samples) > 0 {
				d.Device = cmp.Or(record.Device, d.Device)
				curves = append(curves,
					curve{line{Name: one.Name, Hue: i, Thin: r.Dir != one.Median}, record})
			}
		}
		devices = append(devices, d)
	}
	overlays, err := overlays(id, c.Words(), curves)
	return slices.Concat(all, drawn(deviceChart(id, devices)), overlays), err
}

// barChart is a figure of each configuration: a column up to the median, a dot for every run, and a
// whisker for the interval. Lines join the runs of a block. A column that is no result is hatched.
func (c comparison) barChart(id string, f compare.Metric, all []compare.Configuration) chart {
	alone := len(c.Configurations) == 1
	var names []string
	var columns []line
	const grey = 6
	runs := line{Name: "run", Dots: true, Hue: grey}
	whiskers := line{Name: "95 %", Bars: true, Hue: grey}
	dropped := line{Name: "run that does not count", Dots: true, Hollow: true, Hue: grey}
	blocks := map[int]*line{}
	for i, one := range all {
		x := float64(i + 1)
		names = append(names, strings.TrimPrefix(one.Name, "run-"))
		// Unlike a mean, the median is not moved by one run that went astray.
		if median := f.Middle(one, false); median != nil {
			column := line{Name: one.Name, Wide: true, Hue: i, Faint: c.faint(f, one.Name)}
			if alone { // runs have one colour
				column.Hue = 0
			}
			column.add(x, *median)
			columns = append(columns, column)
		}
		// The interval is that of the mean of the runs, which need not be their median.
		if half := one.Half(); half != nil && f.Name == compare.Main {
			centre := *cmp.Or(one.RunsMean, one.Value())
			whiskers.add(x, max(0, centre-*half)) // no rate is below 0
			whiskers.add(x, centre+*half)
			whiskers.add(x, math.NaN()) // which no other bar is joined to
		}
		for _, r := range one.Runs {
			v := f.Of(r)
			if v == nil || r.Counts && len(one.Runs) == 1 { // a single run is the column itself
				continue
			}
			y := f.Scale * *v
			if !r.Counts {
				dropped.add(x, y)
				continue
			}
			runs.add(x, y)
			if blocks[r.Block] == nil {
				name := fmt.Sprint(r.Block)
				blocks[r.Block] = &line{Name: "block", What: name, Thin: true, Hue: grey}
			}
			blocks[r.Block].add(x, y)
		}
	}
	b := newChart(id+"-bars-"+f.Name, "chart of configurations", struct {
		compare.Configuration
		Metric             compare.Metric
		Main, Alone, Faint bool
	}{
		all[0], f, f.Name == compare.Main, alone,
		slices.ContainsFunc(columns, func(l line) bool { return l.Faint }),
	}, small)
	if f.Name == compare.Main {
		b.Place = picture
	}
	b.Names = names
	b.Lines = columns
	// Runs of one block were made one soon after the other: lines that rise together show a
	// difference of the configurations, lines that cross show noise.
	for _, block := range slices.Sorted(maps.Keys(blocks)) {
		if l := blocks[block]; block > 0 && len(l.Points) > 1 {
			b.Lines = append(b.Lines, *l)
		}
	}
	b.Lines = append(b.Lines, withPoints(whiskers, runs, dropped)...)
	return b
}

// faint says that a figure shows no difference of a configuration from the first, or of the first
// from any.
func (c comparison) faint(f compare.Metric, name string) bool {
	found := false
	for _, d := range c.Differences {
		if d.Metric.Name != f.Name || d.Name != name && d.Against != name {
			continue
		}
		found = true
		stands := d.Significant == nil && f.Name != compare.Main ||
			isFound(d)
		if stands && !c.Doubtful(d) {
			return false
		}
	}
	return found
}

// deviceChart has what each device can do by itself, as fio measured it, and where the runs took
// it; no lines where no device was measured.
func deviceChart(id string, all []Device) chart {
	var lines []line
	for i, one := range all {
		if one.Device == nil {
			continue
		}
		curve := line{Name: one.Name, Hue: i}
		runs := line{Name: one.Name, What: "run", Dots: true, Hue: i}
		// Seconds in records, ms in charts.
		for _, p := range one.Reads {
			curve.add(p.IOPS, 1000*p.Mean)
		}
		for _, r := range one.runs {
			reads := compare.Condition(result.ReadsOfDevices)(r)
			took := compare.Condition(result.ReadLatency)(r)
			if r.Counts && reads != nil && took != nil {
				runs.add(*reads, *took)
			}
		}
		lines = append(append(lines, curve), withPoints(runs)...)
	}
	withRuns := slices.ContainsFunc(lines, func(l line) bool { return l.Dots })
	c := newChart(id+"-device", "chart of devices", withRuns, second)
	c.Lines = lines
	return c
}

// curve is a line yet without points, and the run that they are of.
type curve struct {
	line
	*result.Record
}

// overlays are the rate and the response time of all runs over time, those that stand for their
// configurations thick.
func overlays(id string, words result.Words, runs []curve) ([]chart, error) {
	opm := newChart(id+"-opm", "chart of the rates of runs", words, second)
	latency := newChart(id+"-latency", "chart of the response times of runs", words, second)
	shares := newChart(id+"-distribution", "chart of the distributions of runs", words, folded)
	shares.Labels = quantileLabels()
	if len(runs) == 0 {
		return nil, nil
	}
	for _, r := range runs {
		rate := r.line
		p95 := r.line
		for _, s := range thinned(r.Series.Samples, max(maxPoints/len(runs), 200)) {
			rate.add(middle(s), s.OPM())
			p95.add(middle(s), s.P95) // 0 without orders, which a logarithmic axis leaves out
		}
		// The axis ends with the longest run.
		opm.To = max(opm.To, endOf(r.Record))
		opm.Lines = append(opm.Lines, rate)
		if rate.Thin {
			continue
		}
		latency.Lines = append(latency.Lines, p95)
		times, err := r.Series.Distributions(latencySpan(r.Windows[0]))
		if err != nil {
			return nil, err
		}
		if orders, some := times.Operations[measure.WholeOrder]; some {
			shares.addShares(rate.Name, orders)
		}
	}
	// Both have one time axis.
	latency.To = opm.To
	return []chart{opm, latency, shares}, nil
}

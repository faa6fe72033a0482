package compare

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ds2/internal/datatable"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// Metric is a figure of a run by which configurations are compared.
type Metric struct {
	// {unit} and {cycle} in a title are those of the workload
	Name, Title, Unit string
	Scale             float64                        // to the unit that it is shown in
	Of                func(result.BenchRun) *float64 // its value in a run
	// From names a metric that this one is made of: where the variation of that is unknown, so is
	// that of this one.
	From string
}

// The metrics that go by the unit of the configurations: "opm" and "opm_per_active_w", or "iops"
// and so on.
const (
	Main    = ""
	PerWatt = "_per_active_w"
)

// The metrics of response times and of power, of which others are made or hang on.
const (
	p95    = "order_p95_ms"
	active = "active_w"
)

// Named is the name of a metric in records.
func (c Configuration) Named(metric string) string {
	if metric == Main || metric == PerWatt {
		return strings.ToLower(c.Unit()) + metric
	}
	return metric
}

// Metrics are all that are compared.
var Metrics = slices.Concat([]Metric{
	{Main, "{unit}", "", 1, result.BenchRun.Value, ""},
	{p95, "{cycle} p95", "ms", 1, func(r result.BenchRun) *float64 { return r.P95 }, ""},
	{active, "active power", "W", 1, func(r result.BenchRun) *float64 { return r.Active }, ""},
	{"idle_w", "idle power", "W", 1, func(r result.BenchRun) *float64 { return r.Idle }, ""},
	{PerWatt, "{unit} per watt", "", 1, result.BenchRun.PerWatt, active},
	ofCondition("read_latency_ms", result.ReadLatency, "ms"),
	ofCondition("log_write_latency_ms", result.LogWriteLatency, "ms"),
	ofCondition("processors_pct", result.ServerProcessors, "%"),
	ofCondition("lost_to_events", result.LostOrders, ""),
	ofCondition("back_after_s", result.BackAfter, "s"),
	ofCondition("longest_after_event_ms", result.LongestOrder, "ms"),
}, OfDrives, Costs)

// OfDrives are the metrics of runs that are judged by the I/Os of their drives.
var OfDrives = []Metric{
	ofCondition("total_iops", result.TotalIOPS, "a second"),
	ofCondition("mb_per_s", result.Throughput, "a second"),
	{
		"total_iops_per_active_w", result.TotalIOPSPerWatt, "", 1,
		Condition(result.TotalIOPSPerWatt), active,
	},
	ofCondition("iops_per_mailbox", result.IOPSPerMailbox, "a second"),
}

//go:embed costs.tsv
var costsTable string

// Costs are the metrics of what a cycle costs.
var Costs = readCosts(datatable.Rows(costsTable, 4))

func readCosts(rows [][]string) (all []Metric) {
	for _, row := range rows {
		name := row[0]
		scale, err := strconv.ParseFloat(row[3], 64)
		if err != nil {
			panic(err) // a fault of the table, which any test shows
		}
		of := func(r result.BenchRun) *float64 {
			return cmp.Or(r.Costs, new(result.Costs)).Of(name)
		}
		all = append(all, Metric{
			name + "_per_order", row[1] + " per {cycle}", row[2], scale, of, "",
		})
	}
	return all
}

// ofCondition is the metric of a condition, whose name is its title.
func ofCondition(name, of, unit string) Metric {
	return Metric{name, of, unit, 1, Condition(of), ""}
}

// StatedOf is the metric that a comparison of configurations is about: their result or, where the
// user set the rate, which the result only repeats, their response times.
func StatedOf(all []Configuration) Metric {
	if rateFlag(all) != "" {
		return MetricNamed(p95)
	}
	return MetricNamed(Main)
}

// rateFlag is the flag by which the user set the rate of one of the configurations: that of an open
// loop, or of the I/Os that mailboxes do; empty where none was set.
func rateFlag(all []Configuration) string {
	for _, c := range all {
		if c.Rate > 0 {
			return "--rate"
		}
		for _, r := range c.Runs {
			if result.FindingOf(r.Findings, result.RateSet) != nil {
				return "--iops-per-mailbox"
			}
		}
	}
	return ""
}

// repeatsRate says that a metric shows the rate that the user set, where one was set: the result,
// and what is made of the same I/Os.
func (m Metric) repeatsRate() bool {
	return slices.Contains([]string{Main, "total_iops", "iops_per_mailbox"}, m.Name)
}

// Stated is the metric that the comparison is about.
func (c Comparison) Stated() Metric { return StatedOf(c.Configurations) }

// MetricNamed is the metric of a name that Metrics has.
func MetricNamed(name string) Metric {
	return Metrics[slices.IndexFunc(Metrics, func(m Metric) bool { return m.Name == name })]
}

// Condition is the value of a condition in a run.
func Condition(name string) func(result.BenchRun) *float64 {
	return func(r result.BenchRun) *float64 { return FindCondition(r.Conditions, name) }
}

// FindCondition is the value of the condition of a name; nil where that is not known.
func FindCondition(all []result.Condition, name string) *float64 {
	for _, c := range all {
		if c.Name == name {
			return &c.Value
		}
	}
	return nil
}

// TakeMedian is that of a condition in the runs that count; nil where it was not measured.
func TakeMedian(c Configuration, condition string) *float64 {
	return ofCondition("", condition, "").Middle(c, false)
}

// Title is that of a metric of the configurations.
func (c Comparison) Title(m Metric) string {
	return c.Configurations[0].Title(m)
}

// Title is that of a metric, by the unit of the configuration and the words of its workload.
func (c Configuration) Title(m Metric) string {
	return strings.NewReplacer("{unit}", c.Unit(), "{cycle}", c.Words.Cycle).Replace(m.Title)
}

// Middle is the median of the runs in which the metric was measured, of power that of the run with
// the median result or, beside another configuration, their geometric mean, of which differences
// are: two medians would not have the ratio that stands beside them. It is in the unit that the
// metric is shown in; nil where there are none.
func (m Metric) Middle(c Configuration, beside bool) *float64 {
	all := valuesOf(c, m.Of)
	switch {
	case len(all.values) == 0:
		return nil
	case beside:
		return new(m.Scale * measure.GeometricMean(all.values))
	}
	for i, r := range all.runs {
		if m.OfPower() && r.Dir == c.Median {
			return new(m.Scale * all.values[i])
		}
	}
	return new(m.Scale * measure.Median(all.values))
}

// OfPower says that a bench has the metric, active power or what is made of it, of the run with its
// median result, as the published reports do: medians of each would be of different runs.
func (m Metric) OfPower() bool {
	return m.Name == active || m.From == active
}

// Spread is the lowest and the highest value of the runs in which the metric was measured, in the
// unit that it is shown in; of fewer than two there is none.
func (m Metric) Spread(c Configuration) (low, high float64, several bool) {
	all := valuesOf(c, m.Of).values
	if len(all) < 2 {
		return 0, 0, false
	}
	return m.Scale * slices.Min(all), m.Scale * slices.Max(all), true
}

// Bound says that a value is only known to be at least as high, as p95 of an open loop that dropped
// orders: what these would have waited nobody knows.
func (m Metric) Bound(c Configuration) bool {
	atLeast := func(r result.BenchRun) bool { return m.Name == p95 && r.P95AtLeast }
	return slices.ContainsFunc(valuesOf(c, m.Of).runs, atLeast) ||
		slices.ContainsFunc(c.Days, m.Bound)
}

// values are those of a figure in the runs of a configuration that count, as far as they were
// measured.
type values struct {
	Configuration
	runs   []result.BenchRun
	values []float64
}

// noRatio is why the values have none to others; empty where they have. A run is not left out for
// its value.
func (v values) noRatio() string {
	counted := len(Counted(v.Bench)) + len(v.Days)
	if len(v.values) < counted {
		return fmt.Sprintf("it was measured in %d of %d runs of %s", len(v.values), counted, v.Name)
	}
	none := 0 // runs that completed nothing: no figure is a multiple of theirs
	for _, value := range v.values {
		if value <= 0 {
			none++
		}
	}
	if none > 0 {
		return fmt.Sprintf("it is 0 in %d of %d runs of %s", none, counted, v.Name)
	}
	return ""
}

// valuesOf are those of the runs that count.
func valuesOf(c Configuration, of func(result.BenchRun) *float64) values {
	all := values{Configuration: c}
	for _, r := range c.Runs {
		if !r.Counts {
			continue
		}
		if v := of(r); v != nil {
			all.runs = append(all.runs, r)
			all.values = append(all.values, *v)
		}
	}
	for _, day := range c.Days {
		if of := valuesOf(day, of).values; len(of) > 0 {
			all.values = append(all.values, measure.GeometricMean(of))
		}
	}
	return all
}

// byBlock are the values by block; none where the runs were not made in blocks.
func (v values) byBlock() (all []measure.RunFigure) {
	for i, r := range v.runs {
		if r.Block > 0 {
			all = append(all, measure.RunFigure{
				Block: r.Block, Run: r.Number, Configuration: v.Name, Value: v.values[i],
			})
		}
	}
	return all
}

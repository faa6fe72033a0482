package limit

// usualStatistics are the statistics that Beginnings offers of a figure with percentiles.
var usualStatistics = []string{"mean", "p50", "p95", "p99", "p99.9", "max"}

// Beginnings are the limits that can be written where a workload adds operations, without their bounds, such as "order p95 <":
// each figure with its usual statistics, in order.
func Beginnings(operations ...string) []string {
	var all []string
	for _, name := range names(operations) {
		kind, known := subjects[name]
		if !known {
			kind = operation
		}
		statistics := []string{""}
		switch {
		case kind.percentiles:
			statistics = usualStatistics
		case kind.unit == Seconds:
			statistics = []string{"mean", "max"}
		}
		compare := Below
		if kind.unit.lower() {
			compare = Above
		}
		for _, s := range statistics {
			all = append(all, Metric{name, s}.String()+" "+string(compare))
		}
	}
	return all
}

// Example is a bound for the beginning of a limit, such as 500ms; empty for what is none.
func Example(beginning string) string {
	p := &parser{text: beginning}
	m, err := p.metric()
	if err != nil {
		return ""
	}
	return exampleBounds[m.Unit()]
}

package report

import (
	"slices"
	"strings"

	"ds2/internal/compare"
	"ds2/internal/numbers"
	"ds2/internal/result"
)

// costTable is what a cycle cost in the run that stands for a configuration.
func costTable(c compare.Configuration) table {
	t := fill("costs", c)
	for _, m := range compare.Costs {
		if v := m.Of(medianRun(c)); v != nil {
			t.row(strings.TrimSuffix(m.Title, " per {cycle}"), m.Unit, figure(*v*m.Scale))
		}
	}
	return t
}

// slowestTable is the slowest orders of the first window by the operations that took the most of
// their time, and which was the longest.
func slowestTable(s result.Summary) table {
	t := fill("slowest", s)
	var operations []string
	times := map[string][]float64{}
	for _, o := range s.Slowest {
		operations = addNew(operations, o.Operation)
		times[o.Operation] = append(times[o.Operation], 1000*(o.To-o.From))
	}
	for _, name := range operations {
		t.row(name, numbers.Integer(len(times[name])), figure(slices.Max(times[name])))
	}
	return t
}

// logTable is the log of a run, where its workload has it in the report: the last lines of it.
func logTable(s result.Summary) table {
	t := fill("log", s)
	for _, line := range s.Log {
		at, message, _ := strings.Cut(line, " ") // time=2026-11-21T04:00:00.000Z
		_, clock, _ := strings.Cut(at, "T")
		t.row(strings.TrimSuffix(clock, "Z"), message)
	}
	return t
}

// sentence ends a text with a full stop.
func sentence(text string) string { return strings.TrimRight(text, ".") + "." }

package report

import (
	"fmt"
	"slices"

	"ds2/internal/numbers"
	"ds2/internal/result"
)

// slowestBy are the operations that took the most time of the slowest orders of the first window: by the longest order.
func slowestBy(s result.Summary) (operations []string) {
	for _, o := range s.Slowest {
		if !slices.Contains(operations, o.Operation) {
			operations = append(operations, o.Operation)
		}
	}
	return operations
}

func slowestTable(s result.Summary) table {
	if s.Slowest == nil {
		return table{}
	}
	t := newTable(fmt.Sprintf("The %d slowest %s", len(s.Slowest), s.Words.Cycles),
		"operation that took the most time", "number", "longest, ms")
	for _, name := range slowestBy(s) {
		number, longest := 0, 0.0
		for _, o := range s.Slowest {
			if o.Operation == name {
				number, longest = number+1, max(longest, 1000*(o.To-o.From))
			}
		}
		t.row(name, numbers.Integer(number), figure(longest))
	}
	return t
}

// slowestChart has the slowest orders of the first window where they ended, a colour for each operation.
func slowestChart(r *result.Record, id string) chart {
	c := chart{ID: id + "-slowest", Title: "The slowest " + r.Words.Cycles, YName: "ms", Log: true, Place: folded}
	c.Text = "When each of the slowest " + r.Words.Cycles +
		" of the window ended, how long it took, and which operation took the most of that."
	for _, name := range slowestBy(r.Summary) {
		dots := line{Name: name, Dots: true}
		for _, o := range r.Slowest {
			if o.Operation == name {
				dots.add(o.To, 1000*(o.To-o.From))
			}
		}
		c.draw(dots)
	}
	return c
}

package report

import (
	"fmt"

	"ds2/internal/numbers"
	"ds2/internal/result"
)

// slowestTable is the slowest orders of the first window by the operations that took the most of their time, and which
// was the longest.
func slowestTable(s result.Summary) table {
	if s.Slowest == nil {
		return table{}
	}
	t := newTable(fmt.Sprintf("The %d slowest %s", len(s.Slowest), s.Words.Cycles),
		"operation that took the most time", "number", "longest, ms")
	var operations []string
	for _, o := range s.Slowest {
		operations = addNew(operations, o.Operation)
	}
	for _, name := range operations {
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

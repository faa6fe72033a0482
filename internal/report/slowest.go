package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ds2/internal/result"
)

// causeWords says what slow orders did, by the cause; it follows how many.
var causeWords = map[string]string{
	result.CauseLogFlush:   "waited for a log flush",
	result.CauseDataRead:   "waited for a read of data",
	result.CauseUser:       "waited for a free user",
	result.CauseLock:       "waited for a lock",
	result.CauseStorage:    "waited for the drives",
	result.CauseProcessors: "ran while all processors were busy",
	result.CauseCheckpoint: "ran during a checkpoint",
	result.Unexplained:     "unexplained",
}

// slowestNote says why the slowest orders of the first window were slow; empty where nothing is known of any.
func slowestNote(s result.Summary) string {
	slow := s.Slowest
	if slow == nil || len(slow.Causes)*len(slow.Orders) == 0 || slow.Causes[0].Cause == result.Unexplained {
		return ""
	}
	var parts []string
	for _, c := range slow.Causes {
		parts = append(parts, integer(c.Orders)+" "+causeWords[c.Cause])
	}
	last := slow.Orders[len(slow.Orders)-1]
	return fmt.Sprintf("Of the %d slowest %s, which took %s ms and more, %s.",
		len(slow.Orders), s.Words.Cycles, figure(1000*(last.To-last.From)), strings.Join(parts, ", "))
}

func slowestTable(s result.Summary) table {
	if s.Slowest == nil {
		return table{}
	}
	const by = "by what was under way for at least half of the operation that took the time"
	t := newWords(fmt.Sprintf("The %d slowest %s, %s", len(s.Slowest.Orders), s.Words.Cycles, by),
		"they", "number", "longest, ms", "operations that took the time")
	for _, c := range s.Slowest.Causes {
		operations := slices.Sorted(maps.Keys(c.Operations))
		for i, name := range operations {
			operations[i] = fmt.Sprintf("%s %d", name, c.Operations[name])
		}
		t.row(causeWords[c.Cause], integer(c.Orders), figure(c.Longest), strings.Join(operations, ", "))
	}
	return t
}

// slowestChart has the slowest orders of the first window where they ended, a colour for each cause.
func slowestChart(r *result.Record, id string) chart {
	c := chart{ID: id + "-slowest", Title: "The slowest " + r.Words.Cycles, YName: "ms", Log: true, Place: folded}
	c.Text = "When each of the slowest " + r.Words.Cycles +
		" of the window ended, how long it took, and what was under way meanwhile."
	if r.Slowest == nil {
		return c
	}
	for _, cause := range r.Slowest.Causes {
		dots := line{Name: causeWords[cause.Cause], Dots: true}
		for _, o := range r.Slowest.Orders {
			if o.Cause == cause.Cause {
				dots.add(o.To, 1000*(o.To-o.From))
			}
		}
		c.draw(dots)
	}
	return c
}

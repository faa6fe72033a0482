package report

import (
	"fmt"
	"strings"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// openLoopNote tells how an open loop kept up in the first window; empty for a closed one.
func openLoopNote(s result.Summary) string {
	if s.Parameters.Rate == 0 {
		return ""
	}
	w := s.Windows[0].Counts
	text := fmt.Sprintf("Open loop of %s %s a second: %s fell due in the window, %s were completed and %s dropped; response times count from when %s was due.",
		number(s.Parameters.Rate, 1), s.Words.Cycles, integer(w.Offered), integer(w.Orders), integer(w.Dropped), s.Words.A())
	if l := s.Windows[0].Latency[measure.WholeOrder]; l.AtLeastFrom != nil {
		text += fmt.Sprintf(" Those that were dropped count with the time that they would have waited at least: response times from the %.4gth percentile on, and the mean, are at least so long.", *l.AtLeastFrom)
	}
	return text
}

// faultNote tells what a run went through, apart from rollbacks; empty where that was nothing.
func faultNote(s result.Summary) string {
	c := s.Counts
	words, inDoubt := s.Words, int64(0)
	var some []string
	for _, x := range words.InDoubt {
		inDoubt += c.Of(x.Count)
		some = append(some, integer(c.Of(x.Count))+" "+x.Words)
	}
	if c.Reconnects+c.Retries+c.GivenUp+inDoubt == 0 {
		return ""
	}
	text := fmt.Sprintf("Errors over the whole run: %s retries, %s reconnects, %s %s given up", integer(c.Retries), integer(c.Reconnects), integer(c.GivenUp), words.Cycles)
	if len(some) > 0 {
		text += "; in doubt, because their commit was cut off: " + strings.Join(some, ", ")
	}
	return text + "."
}

// targetTable is what was done on each of several targets.
func targetTable(s result.Summary) table {
	words := s.Words
	t := table{Caption: "Targets, over the whole run; cumulative " + words.Rate + " is from the end of the warm-up on",
		Head: []string{"target", "cumulative " + words.Rate, "of " + words.Cycles, "in", "all " + words.Cycles}}
	if words.Undone != "" {
		t.Head = append(t.Head, words.Undone)
	}
	for _, x := range words.Added {
		t.Head = append(t.Head, x.Words)
	}
	t.Head = append(t.Head, "retries", "reconnects", "given up")
	if len(s.ByTarget) < 2 {
		return t
	}
	for _, x := range s.ByTarget {
		c := x.Counts
		orders, time := "", ""
		if x.OPMOf != nil {
			orders, time = integer(x.OPMOf.Orders), seconds(x.OPMOf.Seconds)
		}
		row := []string{x.Target, number(x.OPM, 1), orders, time, integer(c.Orders)}
		if words.Undone != "" {
			row = append(row, percent(c.Of(words.Undone), c.Orders))
		}
		for _, x := range words.Added {
			row = append(row, integer(c.Of(x.Count)))
		}
		t.Rows = append(t.Rows, append(row, integer(c.Retries), integer(c.Reconnects), integer(c.GivenUp)))
	}
	return t
}

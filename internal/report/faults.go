package report

import (
	"fmt"
	"slices"

	"ds2/internal/result"
)

// openLoopNote tells how an open loop kept up in the first window; empty for a closed one.
func openLoopNote(s result.Summary) string {
	if s.Parameters.Rate == 0 {
		return ""
	}
	w := s.Windows[0].Counts
	return fmt.Sprintf("Open loop of %s %s a second: %s fell due in the window, %s were completed and %s dropped; response times count from when %s was due.",
		number(s.Parameters.Rate, 1), s.Words.Or().Cycles, integer(w.Offered), integer(w.Orders), integer(w.Dropped), s.Words.Or().A())
}

// faultNote tells what a run went through, apart from rollbacks; empty where that was nothing.
func faultNote(s result.Summary) string {
	c := s.Counts
	if c.Reconnects+c.Retries+c.GivenUp+c.InDoubtPurchases+c.InDoubtCustomers == 0 {
		return ""
	}
	text := fmt.Sprintf("Faults over the whole run: %s retries, %s reconnects, %s %s given up", integer(c.Retries), integer(c.Reconnects), integer(c.GivenUp), s.Words.Or().Cycles)
	if s.Words != nil {
		return text + "."
	}
	return text + fmt.Sprintf("; in doubt, because their commit was cut off: %s purchases, %s new customers.", integer(c.InDoubtPurchases), integer(c.InDoubtCustomers))
}

// targetTable is what was done on each of several targets.
func targetTable(s result.Summary) table {
	words := s.Words.Or()
	t := table{Caption: "Targets, over the whole run; cumulative " + words.Rate + " is from the end of the warm-up on",
		Head: []string{"target", "cumulative " + words.Rate, "of " + words.Cycles, "in", "all " + words.Cycles, words.Undone, "new customers", "retries", "reconnects", "given up"}}
	if s.Words != nil {
		t.Head = slices.Delete(t.Head, 5, 7)
	}
	if len(s.ByTarget) < 2 {
		return t
	}
	for _, x := range s.ByTarget {
		c := x.Counts
		orders, time := "", ""
		if x.OPMOf != nil {
			orders, time = integer(x.OPMOf.Orders), seconds(x.OPMOf.Seconds)
		}
		row := []string{x.Target, number(x.OPM, 1), orders, time, integer(c.Orders), percent(c.Rollbacks, c.Purchases),
			integer(c.NewCustomers), integer(c.Retries), integer(c.Reconnects), integer(c.GivenUp)}
		if s.Words != nil {
			row = slices.Delete(row, 5, 7)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

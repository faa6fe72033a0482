package report

import (
	"fmt"

	"ds2/internal/result"
)

// openLoopNote tells how an open loop kept up in the first window; empty for a closed one.
func openLoopNote(s result.Summary) string {
	if s.Parameters.Rate == 0 {
		return ""
	}
	w := s.Windows[0].Counts
	return fmt.Sprintf("Open loop of %s orders a second: %s fell due in the window, %s were completed and %s dropped; response times count from when an order was due.",
		number(s.Parameters.Rate, 1), integer(w.Offered), integer(w.Orders), integer(w.Dropped))
}

// faultNote tells what a run went through, apart from rollbacks; empty where that was nothing.
func faultNote(s result.Summary) string {
	c := s.Counts
	if c.Reconnects+c.Retries+c.GivenUp+c.InDoubtPurchases+c.InDoubtCustomers == 0 {
		return ""
	}
	return fmt.Sprintf("Faults over the whole run: %s retries, %s reconnects, %s orders given up; in doubt, because their commit was cut off: %s purchases, %s new customers.",
		integer(c.Retries), integer(c.Reconnects), integer(c.GivenUp), integer(c.InDoubtPurchases), integer(c.InDoubtCustomers))
}

// targetTable is what was done on each of several targets.
func targetTable(s result.Summary) table {
	t := table{Caption: "Targets, over the whole run; cumulative OPM is from the end of the warm-up on", Head: []string{"target", "cumulative OPM", "of orders", "in", "all orders", "rollbacks", "new customers", "retries", "reconnects", "given up"}}
	if len(s.ByTarget) < 2 {
		return t
	}
	for _, x := range s.ByTarget {
		c := x.Counts
		orders, time := "", ""
		if x.OPMOf != nil {
			orders, time = integer(x.OPMOf.Orders), seconds(x.OPMOf.Seconds)
		}
		t.Rows = append(t.Rows, []string{x.Target, number(x.OPM, 1), orders, time, integer(c.Orders), percent(c.Rollbacks, c.Purchases),
			integer(c.NewCustomers), integer(c.Retries), integer(c.Reconnects), integer(c.GivenUp)})
	}
	return t
}

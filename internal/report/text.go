package report

import (
	"bufio"
	"fmt"
	"io"

	"ds2/internal/result"
)

// Text writes the results of records for reading on a terminal, one after the other. Of audits it tells what failed;
// all checks, and all that is needed to repeat a run, are on the page and in the JSON.
func Text(w io.Writer, records []*result.Record) error {
	b := bufio.NewWriter(w)
	for i, r := range records {
		if i > 0 {
			fmt.Fprintln(b)
		}
		s := r.Summary
		fmt.Fprintf(b, "run %s: %s\n%s\n", s.RunID, runTitle(s), headline(s))
		sentences, _ := notes(s)
		for _, sentence := range sentences {
			fmt.Fprintln(b, sentence)
		}
		for _, t := range []table{resultTable(s), latencyTable(s), targetTable(s), failureTable(s), limitTable(s.Limits), scrubTable(s.Scrubs), auditTable(s).failures()} {
			if len(t.Rows) > 0 {
				fmt.Fprint(b, "\n", t.text())
			}
		}
	}
	return b.Flush()
}

// csvHeader names the columns of CSV.
const csvHeader = "run_id,t_s,phase,users,opm,orders,rollbacks,new_customers,errors,retries,order_mean_ms,order_p95_ms,order_max_ms"

// CSV writes the one-second samples of all records for spreadsheets and plots, one a line.
func CSV(w io.Writer, records []*result.Record) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, csvHeader)
	for _, r := range records {
		for _, s := range r.Series.Samples {
			c := s.Counts
			fmt.Fprintf(b, "%s,%.3f,%s,%d,%.1f,%d,%d,%d,%d,%d,%.2f,%.2f,%.2f\n", r.RunID, s.End.Seconds(), s.Phase, s.Users,
				s.OPM(), c.Orders, c.Rollbacks, c.NewCustomers, s.Errors, c.Retries, s.Mean, s.P95, s.Max)
		}
	}
	return b.Flush()
}

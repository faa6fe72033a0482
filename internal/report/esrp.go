package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ds2/internal/compare"
	"ds2/internal/numbers"
	"ds2/internal/result"
)

// esrpDisclaimer is what a summary in this form is not.
const esrpDisclaimer = "This summary follows the form of Microsoft's Exchange Solution Reviewed Program (ESRP), " +
	"but is no ESRP result: it was not reviewed, and its figures come from ds2, not from Jetstress with " +
	"Exchange's engine. ESRP itself is not designed to be a benchmarking program, and its figures are not for direct " +
	"comparison."

// ESRP writes the results of runs in the order of ESRP's form: a column for each server, of which a
// run may have several, and one for all of them where they were under load together. Runs of one
// server, such as of 24 h and of 2 h, stand beside each other. What follows the form is each run's
// own report. Latencies are means over all I/Os.
func ESRP(records []*result.Record) (Page, error) {
	servers, err := compare.Servers(records)
	if err != nil {
		return Page{}, err
	}
	views := []view{esrpView(records, servers)}
	for _, r := range records {
		own := runView(r, "run-"+r.RunID)
		own.draw = nil
		if light := own.Light(); light > proof {
			views[0].findf(light, "Run %s: %s; the reasons are in its report below",
				r.RunID, strings.ToLower(light.String()))
		}
		views = append(views, own)
	}
	return Page{views[0].Title, views}, nil
}

func esrpView(records []*result.Record, servers []compare.Server) view {
	v := view{Title: "Storage performance, in the order of ESRP's form", Headline: esrpDisclaimer}
	for _, r := range records {
		if r.Status != result.Done {
			v.findf(aside, "Run %s is recorded as %s.", r.RunID, r.Status)
		}
		v.findLimits(r.Limits)
	}
	if slices.ContainsFunc(servers, func(s compare.Server) bool { return s.Shared }) {
		v.find(aside, "Data and log share a drive: its latencies are those of both.")
	}
	name := func(s compare.Server) string { return s.Name }
	summary := newTable("Test summary", cells("figure", servers, name)...)
	told := func(what string, of func(*result.Record) string) {
		summary.row(cells(what, servers, func(s compare.Server) string { return of(s.Run) })...)
	}
	told("Overall Test Result", func(r *result.Record) string { return passOrFail(r.Summary) })
	told("Run", func(r *result.Record) string { return r.RunID })
	told("Test Start", func(r *result.Record) string { return r.Start.UTC().Format(utc) })
	told("Test Duration", func(r *result.Record) string {
		return seconds(r.Windows[0].To - r.Windows[0].From)
	})
	told("Databases", func(r *result.Record) string { return strings.Join(r.Targets, ", ") })
	told("Size of each", func(r *result.Record) string { return r.Size })
	told("Users of each", func(r *result.Record) string { return fmt.Sprint(r.Threads) })
	told("Target I/O per Second", func(r *result.Record) string {
		if r.Pace == nil {
			return "–"
		}
		return numbers.Decimals(r.Pace.Target, 3)
	})
	told("Limits", func(r *result.Record) string {
		var all []string
		for _, l := range r.Limits {
			all = append(all, fmt.Sprintf("%s: %s, %s", l.Limit, l.Value(), verdictWord(l.OK)))
		}
		return cmp.Or(strings.Join(all, "; "), "–")
	})
	told("Records", func(r *result.Record) string { _, text := auditText(r.Audit); return text })
	told("Pages", func(r *result.Record) string {
		_, text := deepCheckNote(r.DeepChecks)
		return cmp.Or(text, "Not checked.")
	})
	if compare.AtOnce(servers) {
		servers = append(slices.Clip(servers), compare.Together(servers))
	}
	head := cells("figure", servers, name)
	database := newTable("Database I/O", head...)
	log := newTable("Transaction log I/O", head...)
	row := func(t *table, what string, scale float64, of func(compare.Server) float64) {
		t.row(cells(what, servers, func(s compare.Server) string {
			return orDash(of(s), func(v float64) string { return numbers.Decimals(v*scale, 3) })
		})...)
	}
	row(&database, "Database Disks Transfers/sec", 1, func(s compare.Server) float64 {
		return s.Reads + s.Writes
	})
	row(&database, "Database Disks Reads/sec", 1, func(s compare.Server) float64 { return s.Reads })
	row(&database, "Database Disks Writes/sec", 1, func(s compare.Server) float64 {
		return s.Writes
	})
	row(&database, "Average Database Disk Read Latency (ms)", 1000,
		func(s compare.Server) float64 { return s.ReadTime.Mean() })
	row(&database, "Average Database Disk Write Latency (ms)", 1000,
		func(s compare.Server) float64 { return s.WriteTime.Mean() })
	row(&database, "Database Maintenance Transfers/sec", 1, func(s compare.Server) float64 {
		return s.Maintenance
	})
	row(&log, "Log Disks Writes/sec", 1, func(s compare.Server) float64 { return s.LogWrites })
	row(&log, "Average Log Disk Write Latency (ms)", 1000, func(s compare.Server) float64 {
		return s.LogTime.Mean()
	})
	v.Tables = []table{summary, database, log}
	return v
}

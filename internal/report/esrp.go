package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ds2/internal/compare"
	"ds2/internal/result"
)

// esrpDisclaimer is what a summary in this form is not.
const esrpDisclaimer = "This summary follows the form of Microsoft's Exchange Solution Reviewed Program (ESRP), " +
	"but is no ESRP result: nobody has reviewed it, and its figures come from ds2, not from Jetstress with " +
	"Exchange's engine. ESRP itself is not designed to be a benchmarking program, and its figures are not for direct " +
	"comparison."

// ESRP writes the results of runs in the order of ESRP's form: a column for each server, of which a run may have
// several, and one for all of them. Latencies are means over all I/Os.
func ESRP(records []*result.Record) (Page, error) {
	servers, err := compare.Servers(records)
	if err != nil {
		return Page{}, err
	}
	v := esrpView(records, servers)
	return Page{v.Title, []view{v}}, nil
}

func esrpView(records []*result.Record, servers []compare.Server) view {
	v := view{Title: "Storage performance, in the order of ESRP's form", Headline: esrpDisclaimer}
	ids := make([]string, len(records))
	for i, r := range records {
		workload := cmp.Or(r.Workload, "ds2")
		ids[i] = fmt.Sprintf("%s (%s on %s, %d users a database)", r.RunID, workload, r.Engine, r.Threads)
		if r.Status != result.Done {
			v.findf(aside, "Run %s is recorded as %s.", r.RunID, r.Status)
		}
		v.findLimits(r.Limits)
	}
	v.find(aside, "Runs: "+strings.Join(ids, ", ")+".")
	for i, s := range servers {
		apart := func(o compare.Server) bool { return !s.From.Before(o.To) || !o.From.Before(s.To) }
		if slices.ContainsFunc(servers[:i], apart) {
			v.find(aside, "These servers were not under load at the same time: "+
				"the sum is of several runs, not of one load.")
			break
		}
	}
	if slices.ContainsFunc(servers, func(s compare.Server) bool { return s.Shared }) {
		v.find(aside, "Data and log share a drive: its latencies are those of both.")
	}
	columns := append(servers, compare.Together(servers))
	head := []string{"figure"}
	for _, s := range columns {
		head = append(head, s.Name)
	}
	database, log := newTable("Database I/O", head...), newTable("Transaction log I/O", head...)
	row := func(t *table, name string, scale float64, of func(compare.Server) *float64) {
		cells := []string{name}
		for _, s := range columns {
			cells = append(cells, orElse("–", of(s), scale, 3))
		}
		t.row(cells...)
	}
	row(&database, "Database Disks Transfers/sec", 1,
		func(s compare.Server) *float64 { return new(s.Reads + s.Writes) })
	row(&database, "Database Disks Reads/sec", 1, func(s compare.Server) *float64 { return &s.Reads })
	row(&database, "Database Disks Writes/sec", 1, func(s compare.Server) *float64 { return &s.Writes })
	row(&database, "Average Database Disk Read Latency (ms)", 1000,
		func(s compare.Server) *float64 { return s.ReadTime.Mean() })
	row(&database, "Average Database Disk Write Latency (ms)", 1000,
		func(s compare.Server) *float64 { return s.WriteTime.Mean() })
	row(&log, "Log Disks Writes/sec", 1, func(s compare.Server) *float64 { return s.LogWrites })
	row(&log, "Average Log Disk Write Latency (ms)", 1000, func(s compare.Server) *float64 { return s.Logged.Mean() })
	v.Tables = []table{database, log}
	return v
}

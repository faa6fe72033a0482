package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ds2/internal/compare"
	"ds2/internal/numbers"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// esrpDisclaimer is what a summary in this form is not.
const esrpDisclaimer = "This summary follows the form of Microsoft's Exchange Solution Reviewed Program (ESRP), " +
	"but is no ESRP result: it was not reviewed, and its figures come from ds2, not from Jetstress with " +
	"Exchange's engine. ESRP itself is not designed to be a benchmarking program, and its figures are not for direct " +
	"comparison."

// ESRP writes the results of runs in the order of ESRP's form: a column for each server, of which a
// run may have several, and one for all of them where they were under load together. Runs of one
// server, such as of 24 h and of 2 h, stand beside each other. What follows the form is each run's
// own report. Rates are the runs' own results, latencies those that limits are judged by.
func ESRP(records []*result.Record) (Page, error) {
	form, err := compare.NewForm(records)
	if err != nil {
		return Page{}, err
	}
	views := []view{esrpView(records, form)}
	for _, r := range records {
		own := runView(r, "run-"+r.RunID)
		own.draw = nil
		views = append(views, own)
	}
	return Page{views[0].Title, views}, nil
}

func esrpView(records []*result.Record, form compare.Form) view {
	v := view{Title: "Storage performance, in the order of ESRP's form", Headline: esrpDisclaimer}
	for _, r := range records {
		all := slices.Clone(r.Findings)
		for i := range all {
			all[i].Configuration = "run " + r.RunID
		}
		v.found(all)
	}
	if slices.ContainsFunc(form.Servers, func(s compare.Server) bool { return s.Shared }) {
		v.find(aside, "Data and log share a drive: its latencies are those of both.")
	}
	if form.Apart != "" {
		v.find(reservation, capital(form.Apart))
	}
	v.Tables = []table{esrpSummary(form.Servers)}
	servers := form.Servers
	if form.Together != nil {
		servers = append(slices.Clip(servers), *form.Together)
	}
	v.Tables = append(v.Tables, esrpDatabase(servers), esrpLog(servers))
	for _, r := range records {
		v.Tables = append(v.Tables, deepCheckTable(r.DeepChecks), hostTable(r))
	}
	return v
}

// esrpSummary is what was tested and how it ended.
func esrpSummary(servers []compare.Server) table {
	t := newTable("Test summary", cells("figure", servers, serverName)...)
	told := func(what string, of func(*result.Record) string) {
		t.row(cells(what, servers, func(s compare.Server) string { return of(s.Run) })...)
	}
	condition := func(name string, decimals int) func(*result.Record) string {
		return func(r *result.Record) string {
			value := compare.Condition(name)(result.BenchRun{Conditions: r.Conditions})
			return known(value, func(v float64) string { return numbers.Decimals(v, decimals) })
		}
	}
	told("Overall Test Result", func(r *result.Record) string { return passOrFail(r.Summary) })
	told("Run", func(r *result.Record) string { return r.RunID })
	told("Test Start", func(r *result.Record) string { return r.Start.UTC().Format(utc) })
	told("Test End", func(r *result.Record) string { return r.End.UTC().Format(utc) })
	told("Test Duration", func(r *result.Record) string {
		return seconds(r.Windows[0].To - r.Windows[0].From)
	})
	told("Databases", func(r *result.Record) string { return strings.Join(r.Targets, ", ") })
	told("Size of each", func(r *result.Record) string { return r.Size })
	told("Mailboxes", condition(result.Mailboxes, 0))
	told("Users of each", func(r *result.Record) string { return fmt.Sprint(r.Threads) })
	told("Target I/O per Second", func(r *result.Record) string {
		if r.Pace == nil {
			return "–"
		}
		return numbers.Decimals(r.Pace.Target, 3)
	})
	told("Achieved I/O per Second and Mailbox", condition(result.IOPSPerMailbox, 3))
	told("Active Power (W)", func(r *result.Record) string {
		return known(cmp.Or(r.Power, new(result.Power)).Active, figure)
	})
	told("Total I/O per Second and Watt", condition(result.TotalIOPSPerWatt, 2))
	told("Limits", func(r *result.Record) string {
		var all []string
		for _, l := range r.Limits {
			all = append(all, fmt.Sprintf("%s: %s, %s", l.Limit, l.Value(), verdictWord(l.OK)))
		}
		return cmp.Or(strings.Join(all, "; "), "–")
	})
	words := func(r *result.Record, kinds ...result.FindingKind) string {
		f := result.FindingOf(r.Findings, kinds...)
		if f == nil {
			return "not checked"
		}
		return capital(f.Words())
	}
	told("Records", func(r *result.Record) string {
		return words(
			r,
			result.AuditFailed,
			result.AuditNotMade,
			result.NotAudited,
			result.AuditPassed,
		)
	})
	told("Pages", func(r *result.Record) string {
		return words(r, result.Damaged, result.DeepCheckNotMade, result.Undamaged)
	})
	told("Volumes", func(r *result.Record) string {
		var all []string
		for _, volume := range r.Space {
			all = append(all, volume.Text())
		}
		return cmp.Or(strings.Join(all, "; "), "–")
	})
	return t
}

func serverName(s compare.Server) string { return s.Name }

// esrpRow adds a row of figures of servers to a table.
func esrpRow(t *table, servers []compare.Server, what string, of func(compare.Server) float64) {
	t.row(cells(what, servers, func(s compare.Server) string {
		return orDash(of(s), func(v float64) string { return numbers.Decimals(v, 3) })
	})...)
}

// esrpLatency adds a row of latencies, each with whose it is.
func esrpLatency(
	t *table,
	servers []compare.Server,
	what string,
	of func(compare.Server) compare.Latency,
) {
	t.row(cells(what, servers, func(s compare.Server) string {
		l := of(s)
		return orDash(l.Seconds, func(v float64) string {
			text := numbers.Decimals(1000*v, 3)
			if l.OfServer {
				text += " (waited by the server)"
			}
			return text
		})
	})...)
}

func esrpDatabase(servers []compare.Server) table {
	t := newTable("Database I/O", cells("figure", servers, serverName)...)
	row := func(what string, of func(compare.Server) float64) { esrpRow(&t, servers, what, of) }
	row("Database Disks Transfers/sec", func(s compare.Server) float64 { return s.IOPS })
	row("Database Disks Reads/sec", func(s compare.Server) float64 { return s.Reads })
	row("Database Disks Writes/sec", func(s compare.Server) float64 { return s.Writes })
	esrpLatency(&t, servers, "Average Database Disk Read Latency (ms)",
		func(s compare.Server) compare.Latency { return s.Read })
	esrpLatency(&t, servers, "Average Database Disk Write Latency (ms)",
		func(s compare.Server) compare.Latency { return s.Write })
	row("Database Maintenance Transfers/sec", func(s compare.Server) float64 {
		return s.MaintenanceIOPS
	})
	row("Total Disks Transfers/sec, with the log's", func(s compare.Server) float64 {
		return s.Total()
	})
	row("Disks Transfers (MiB/sec)", func(s compare.Server) float64 { return s.MiB() })
	return t
}

func esrpLog(servers []compare.Server) table {
	t := newTable("Transaction log I/O", cells("figure", servers, serverName)...)
	esrpRow(&t, servers, "Log Disks Writes/sec", func(s compare.Server) float64 {
		return s.LogWrites
	})
	esrpLatency(&t, servers, "Average Log Disk Write Latency (ms)",
		func(s compare.Server) compare.Latency { return s.LogWrite })
	esrpRow(&t, servers, "Average Log Disk Write (bytes)", func(s compare.Server) float64 {
		return *cmp.Or(s.LogBytes, new(math.NaN()))
	})
	esrpRow(&t, servers, "Log Disks Reads/sec", func(s compare.Server) float64 {
		reads := -1.
		for _, v := range s.Volumes {
			if slices.Equal(v.Roles, []topology.Role{topology.Log}) {
				reads = v.Reads + max(0, reads) // of several
			}
		}
		if reads < 0 {
			return math.NaN()
		}
		return reads
	})
	return t
}

// hostCounters are the counters of the machine that the published reports have.
var hostCounters = []string{
	sampling.CPUBusy, sampling.CPUIOWait, sampling.MemoryAvailable, sampling.NetworkReceived,
	sampling.NetworkSent, sampling.Power,
}

// hostTable is what the machine did in the first window.
func hostTable(r *result.Record) table {
	all := counterTable(r)
	t := newTable("Host performance of run "+r.RunID, all.Head...)
	for i, row := range all.Rows {
		column, item := sampling.SplitColumn(r.Host.Columns[i])
		if item == "" && slices.Contains(hostCounters, column) {
			t.row(row...)
		}
	}
	return t
}

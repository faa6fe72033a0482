package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ds2/internal/compare"
	"ds2/internal/esrp"
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
	form, err := esrp.NewForm(records)
	if err != nil {
		return Page{}, err
	}
	views := []view{esrpView(records, form)}
	for _, r := range records {
		own := runView(r, "run-"+r.RunID)
		own.draw = nil
		views = append(views, own)
	}
	return Page{title: views[0].Title, views: views}, nil
}

func esrpView(records []*result.Record, form esrp.Form) view {
	v := view{Title: "Storage performance, in the order of ESRP's form", Headline: esrpDisclaimer}
	for _, r := range records {
		all := slices.Clone(r.Findings)
		for i := range all {
			all[i].Configuration = "run " + r.RunID
			if all[i].Kind == result.LimitOpen { // the form goes by what was seen
				all[i].Effect = result.Reserves
				if r.Limits.Which(result.Verdict.Missed) != "" {
					all[i].Effect = result.Fails
				}
			}
		}
		v.found(all)
	}
	if slices.ContainsFunc(form.Servers, func(s esrp.Server) bool { return s.Shared }) {
		v.note("Data and log share a drive: its latencies are those of both.")
	}
	if form.Apart != "" {
		v.find(result.Reserves, "%s", form.Apart)
	}
	servers := form.Servers
	if form.Together != nil {
		servers = append(slices.Clip(servers), *form.Together)
	}
	v.Tables = []table{
		serverTable("Test summary", form.Servers, esrpSummary),
		serverTable("Database I/O", servers, esrpDatabase),
		serverTable("Transaction log I/O", servers, esrpLog),
	}
	for _, r := range records {
		v.Tables = append(v.Tables, deepCheckTable(r.DeepChecks), hostTable(r))
	}
	return v
}

// column is names and figures of one server, which stand beside those of others.
type column []struct{ name, figure string }

// serverTable has a column for each server.
func serverTable(caption string, servers []esrp.Server, of func(esrp.Server) column) table {
	t := newTable(caption, "figure")
	for i, s := range servers {
		t.Head = append(t.Head, s.Name)
		for row, c := range of(s) {
			if i == 0 {
				t.row(c.name)
			}
			t.Rows[row] = append(t.Rows[row], c.figure)
		}
	}
	return t
}

// esrpSummary is what was tested and how it ended.
func esrpSummary(s esrp.Server) column {
	r := s.Run
	condition := func(name string, decimals int) string {
		value := compare.FindCondition(r.Conditions, name)
		return known(value, func(v float64) string { return numbers.Decimals(v, decimals) })
	}
	verification := func(kinds ...result.FindingKind) string {
		if f := result.FindingOf(r.Findings, kinds...); f != nil {
			return capital(f.Words())
		}
		return "not checked"
	}
	target := "–"
	if r.Pace != nil {
		target = perSecond(r.Pace.Target)
	}
	var limits, volumes []string
	for _, l := range r.Limits {
		text := fmt.Sprintf("%s: %s, %s", l.Limit, l.Value(), verdictWord(l.OK))
		if l.CannotTell { // the form's own rule is of what was seen
			text += fmt.Sprintf(" (cannot tell: 95 %% interval %s)", l.Interval())
		}
		limits = append(limits, text)
	}
	for _, volume := range r.Space {
		volumes = append(volumes, volume.Text())
	}
	audited := verification(
		result.AuditFailed, result.AuditNotMade, result.NotAudited, result.AuditPassed,
	)
	return column{
		{"Overall Test Result", passOrFail(r.Summary)},
		{"Run", r.RunID},
		{"Test Start", r.Start.UTC().Format(utc)},
		{"Test End", r.End.UTC().Format(utc)},
		{"Test Duration", seconds(r.Windows[0].To - r.Windows[0].From)},
		{"Databases", strings.Join(r.Targets, ", ")},
		{"Size of each", r.Size},
		{"Mailboxes", condition(result.Mailboxes, 0)},
		{"Users of each", fmt.Sprint(r.Threads)},
		{"Target I/O per Second", target},
		{"Achieved I/O per Second and Mailbox", condition(result.IOPSPerMailbox, 3)},
		{"Active Power (W)", figureOr(cmp.Or(r.Power, new(result.Power)).Active)},
		{"Total I/O per Second and Watt", condition(result.TotalIOPSPerWatt, 2)},
		{"Limits", cmp.Or(strings.Join(limits, "; "), "–")},
		{"Records", audited},
		{"Pages", verification(result.Damaged, result.DeepCheckNotMade, result.Undamaged)},
		{"Volumes", cmp.Or(strings.Join(volumes, "; "), "–")},
	}
}

func perSecond(rate float64) string {
	return orDash(rate, func(v float64) string { return numbers.Decimals(v, 3) })
}

// latencyText is a latency in milliseconds, with whose it is.
func latencyText(l esrp.Latency) string {
	text := perSecond(1000 * l.Seconds)
	if l.OfServer && text != "–" {
		text += " (waited by the server)"
	}
	return text
}

func esrpDatabase(s esrp.Server) column {
	return column{
		{"Database Disks Transfers/sec", perSecond(s.IOPS)},
		{"Database Disks Reads/sec", perSecond(s.Reads)},
		{"Database Disks Writes/sec", perSecond(s.Writes)},
		{"Average Database Disk Read Latency (ms)", latencyText(s.Read)},
		{"Average Database Disk Write Latency (ms)", latencyText(s.Write)},
		{"Database Maintenance Transfers/sec", perSecond(s.MaintenanceIOPS)},
		{"Total Disks Transfers/sec, with the log's", perSecond(s.Total())},
		{"Disks Transfers (MiB/sec)", perSecond(s.MiB())},
	}
}

func esrpLog(s esrp.Server) column {
	reads := math.NaN()
	for _, v := range s.Volumes {
		if slices.Equal(v.Roles, []topology.Role{topology.Log}) {
			if math.IsNaN(reads) {
				reads = 0
			}
			reads += v.Reads
		}
	}
	return column{
		{"Log Disks Writes/sec", perSecond(s.LogWrites)},
		{"Average Log Disk Write Latency (ms)", latencyText(s.LogWrite)},
		{"Average Log Disk Write (bytes)", perSecond(*cmp.Or(s.LogBytes, new(math.NaN())))},
		{"Log Disks Reads/sec", perSecond(reads)},
	}
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

package report

import (
	"slices"

	"ds2/internal/esrp"
	"ds2/internal/result"
	"ds2/internal/sampling"
)

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
	// Charts are left out: the form is a document to print, and a run's own report has them.
	for _, r := range records {
		own := runView(r, "run-"+r.RunID)
		own.draw = nil
		views = append(views, own)
	}
	return Page{title: views[0].Title, views: views}, nil
}

func esrpView(records []*result.Record, form esrp.Form) view {
	v := view{
		Title:    "Storage performance, in the order of ESRP's form",
		Headline: say("disclaimer of ESRP's form", nil),
	}
	for _, r := range records {
		all := slices.Clone(r.Findings)
		for i := range all {
			// Of several runs on one form each finding says whose it is.
			all[i].Configuration = "run " + r.RunID
			if all[i].Kind == result.LimitOpen { // the form goes by what was seen
				all[i].Effect = result.Reserves
				if r.Limits.Which(result.Verdict.Missed) != "" {
					all[i].Effect = result.Fails
				}
			}
		}
		v.addFindings(all)
	}
	if slices.ContainsFunc(form.Servers, func(s esrp.Server) bool { return s.Shared }) {
		v.note("Data and log share a drive: its latencies are those of both.")
	}
	if form.Apart != "" {
		v.addFinding(result.Reserves, "%s", form.Apart)
	}
	servers := form.Servers
	if form.Together != nil {
		servers = append(slices.Clip(servers), *form.Together)
	}
	v.Tables = []table{
		fill("test summary", form.Servers),
		fill("database I/O", servers),
		fill("log I/O", servers),
	}
	for _, r := range records {
		v.Tables = append(v.Tables, fill("deep check", r.DeepChecks), hostTable(r))
	}
	return v
}

// hostCounters are the counters of the machine that the published reports have.
var hostCounters = []string{
	sampling.CPUBusy, sampling.CPUIOWait, sampling.MemoryAvailable, sampling.NetworkReceived,
	sampling.NetworkSent, sampling.Power,
}

// hostTable is what the machine did in the first window.
func hostTable(r *result.Record) table {
	t := fill("host performance", r)
	for i, row := range counterTable(r).Rows {
		column, item := sampling.SplitColumn(r.Host.Columns[i])
		if item == "" && slices.Contains(hostCounters, column) {
			t.row(row...)
		}
	}
	return t
}

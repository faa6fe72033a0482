package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ds2/internal/conclude"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// runView is a run as it is shown.
func runView(r *result.Record, id string) view {
	s := r.Summary
	single := conclude.Single(s)
	single.Runs[0].Counts = true // whatever it ended by: its figures are shown
	one := Configuration{Name: "the run", Bench: single}
	v := view{
		ID: id, RunID: r.RunID, Title: fmt.Sprintf("Run %s: %s", s.RunID, runTitle(s)), Headline: Headline(s),
		Byline:  byline(r.Start, "run "+r.RunID, r.KitVersion, strings.Join(r.Targets, ", ")),
		Figures: Comparison{Configurations: []Configuration{one}}.figures(),
		draw:    func() ([]chart, error) { return charts(r, id) },
	}
	v.Figures.Head = []string{"figure", "value"}
	v.findRun(s)
	if b := s.Bottleneck; b != nil {
		v.Why = append(v.Why, sentence(fmt.Sprintf("Bottleneck: %s. %s", b.What, capital(b.Why))))
		if of := b.Figures.OfDevice(); of != "" {
			v.Why = append(v.Why, sentence("Device: "+of))
		}
	}
	v.because(append(disturbanceNotes(s), slowestNote(s))...)
	if audit := auditText(s.Audit); audit.level == proof { // else it is among the findings
		v.because(audit.text)
	}
	v.because(cutsNote(s.Cuts), crashNote(s.Crash), replayNote(s.Replay)) // the run was made to find out
	for _, section := range s.Sections {
		v.Tables = append(v.Tables, table{Caption: section.Title, Head: section.Head, Rows: section.Rows, Words: section.Words})
	}
	v.Tables = append(v.Tables, scrubTable(s), copyTable(s), debtTable(s.Debt), resultTable(s), latencyTable(s), eventTable(s), slowestTable(s), ioTable(s), limitTable(s.Limits), targetTable(s), failureTable(s),
		cutTable(s.Cuts, s.Words), replayTable(s.Replay), checksumTable(s.DeepChecks), deepCheckTable(s.DeepChecks), auditTable(s), costTable(s.Costs, s.Words), smartTable(s.SMART),
		counterTable(r), environmentTable(s), setupTable(s), logTable(s), commandTable(s.Command))
	return v
}

func runTitle(s result.Summary) string {
	title := fmt.Sprintf("%s, size %s, %s", s.Engine, s.Size, users(s.Threads*len(s.Targets)))
	if s.Workload != "" {
		return s.Workload + " on " + title
	}
	return title
}

// Headline is the figure that counts.
func Headline(s result.Summary) string {
	f := s.Figure
	if f == nil {
		return "no result"
	}
	text := opmOf(&f.Value, f.CI95) + " " + f.Unit
	if f.CI95 != nil {
		text += " ± " + uncertainty(f.CI95)
	}
	if b := s.Bottleneck; b != nil && limitedBy[b.What] != "" {
		text += ", limited by " + limitedBy[b.What]
	}
	return text
}

// findRun says how a run ended, whether it was steady, what the audit said.
func (v *view) findRun(s result.Summary) {
	if s.Status != result.Done {
		ended := unknown
		if s.Status == result.Failed {
			ended = failure
		}
		v.find(ended, strings.TrimSuffix(fmt.Sprintf("The run is recorded as %s: %s", s.Status, s.Error), ": "))
	}
	v.find(aside, proofNote(s.Engine, s.Parameters))
	for _, section := range s.Sections {
		for _, note := range section.Notes {
			v.find(aside, note)
		}
	}
	if audit := auditText(s.Audit); audit.level != proof {
		v.find(audit.level, audit.text)
	}
	v.findLimits(s.Limits)
	if c := s.Cuts; c != nil && c.Lossy > 0 {
		v.find(failure, cutsNote(c))
	} else {
		v.find(proof, cutsNote(c))
	}
	if note, whole := deepCheckNote(s.DeepChecks); whole {
		v.find(proof, note)
	} else {
		v.find(failure, note)
	}
	if len(s.Windows) > 0 {
		v.findWindow(s)
	} else {
		v.find(unknown, "The run ended before its first window did")
	}
	for _, hot := range conclude.Throttled(s.SMART) {
		v.find(reservation, "Fault: "+hot)
	}
	if b := s.Bottleneck; b != nil {
		for _, warning := range b.Warnings {
			v.find(reservation, "Warning: "+warning)
		}
	}
	for _, warning := range s.Warnings {
		v.find(reservation, "Warning: "+warning)
	}
	v.findDebt(s)
	for _, note := range []string{cumulativeNote(s), faultNote(s), powerNote(s), crashNote(s.Crash), replayNote(s.Replay)} {
		v.find(aside, note)
	}
}

// findWindow says what the first window is worth.
func (v *view) findWindow(s result.Summary) {
	w := s.Windows[0]
	if ofCycles(s) {
		v.find(aside, fmt.Sprintf("Mean of the %s completed a minute from %s to %s", s.Words.Cycles, seconds(w.From), seconds(w.To)))
	}
	if w.NoCI95 != "" {
		v.find(reservation, fmt.Sprintf("The run is %s", w.NoCI95))
	}
	if w.FewSamples != "" {
		v.find(reservation, fmt.Sprintf("The confidence interval is wide and less certain than others, as it rests on %s", w.FewSamples))
	}
	switch {
	case w.Steady.Verdict:
		v.find(proof, w.Steady.Why)
	case w.Steady.Drifts():
		v.find(unknown, w.Steady.Why)
	default:
		v.find(reservation, w.Steady.Why)
	}
	if w.Cycle != nil {
		v.find(aside, w.Cycle.Why)
	}
	if w.Trend != nil {
		v.find(aside, w.Trend.Why)
	}
	v.find(aside, openLoopNote(s))
}

// auditText says what the audit of the database found.
func auditText(a *result.Audit) finding {
	switch {
	case a == nil:
		return finding{reservation, "The database was not audited."}
	case a.NotAudited != "":
		return finding{reservation, fmt.Sprintf("The database was not audited: %s; ds2 verify --record does it.", a.NotAudited)}
	case a.Passed:
		return finding{proof, fmt.Sprintf("The audit passed: %s of the database.", counted(len(a.Checks), "check"))}
	}
	failed := 0
	for _, c := range a.Checks {
		if !c.Passed {
			failed++
		}
	}
	return finding{failure, fmt.Sprintf("The audit FAILED: %d of %d checks of the database do not hold.", failed, len(a.Checks))}
}

// ofCycles says that the figure that counts is that of cycles a minute.
func ofCycles(s result.Summary) bool { return s.Figure != nil && s.Figure.Unit == s.Words.Rate }

// cumulativeNote is the average since the warm-up, so that published ones can be compared; empty where there is none.
func cumulativeNote(s result.Summary) string {
	if s.CumulativeOPM == nil || !ofCycles(s) {
		return ""
	}
	words := s.Words
	text := fmt.Sprintf("Cumulative %s%s: %s, the average since the end of the warm-up", words.Rate, words.Cumulative, opmOf(s.CumulativeOPM, nil))
	if of := s.CumulativeOf; of != nil {
		text += fmt.Sprintf(" (%s %s in %s)", integer(of.Orders), words.Cycles, seconds(of.Seconds))
	}
	return text + "."
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func resultTable(s result.Summary) table {
	words := s.Words
	t := table{
		Caption: "Windows",
		Head:    []string{"window", "from", "to", words.Cycles, words.Rate, "± 95 %", "mean running average", "failed attempts"},
	}
	if words.Undone != "" {
		t.Head = slices.Insert(t.Head, undoneColumn, words.Undone)
	}
	for _, w := range s.Windows {
		row := []string{w.Name, seconds(w.From), seconds(w.To), integer(w.Counts.Orders), opmOf(&w.OPM, w.CI95),
			cmp.Or(uncertainty(w.CI95), "–"), opmOf(&w.RunningAverageOPM, nil), integer(w.Errors)}
		if words.Undone != "" {
			row = slices.Insert(row, undoneColumn, percent(w.Counts.Of(words.Undone), w.Counts.Orders))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// undoneColumn is the column of the windows' table for cycles that left nothing behind.
const undoneColumn = 7

// seriesOf lists what there are response times of: whole orders first, then the operations.
func seriesOf[V any](byName map[string]V) []string {
	names := slices.Sorted(maps.Keys(byName))
	if i := slices.Index(names, measure.WholeOrder); i > 0 {
		names = append([]string{measure.WholeOrder}, slices.Delete(names, i, i+1)...)
	}
	return names
}

// seriesTitle is a series as the workload calls it.
func seriesTitle(s result.Summary, name string) string {
	if name == measure.WholeOrder {
		return s.Words.Cycle
	}
	return name
}

func latencyTable(s result.Summary) table {
	t := table{
		Caption: "Response times in milliseconds",
		Head:    []string{"operation", "count", "mean", "p25", "p50", "p75", "p95", "p99", "p99.9", "max"},
	}
	if len(s.Windows) == 0 {
		return t
	}
	w := s.Windows[0]
	t.Caption += fmt.Sprintf(", from %s to %s", seconds(w.LatencyFrom), seconds(w.LatencyTo))
	for _, name := range seriesOf(w.Latency) {
		if name == s.Words.Cycle && name != measure.WholeOrder {
			continue // a cycle of one operation, which stands above
		}
		l := w.Latency[name]
		t.Rows = append(t.Rows, []string{seriesTitle(s, name), integer(l.Count), figure(l.Mean), figure(l.P25), figure(l.P50), figure(l.P75),
			figure(l.P95), figure(l.P99), figure(l.P999), figure(l.Max)})
		if name == measure.WholeOrder && w.OwnMean != nil && s.Words.Own != "" {
			t.Rows = append(t.Rows, []string{s.Words.Own, integer(w.Counts.Orders), figure(*w.OwnMean), "–", "–", "–", "–", "–", "–", "–"})
		}
	}
	return t
}

func failureTable(s result.Summary) table {
	t := table{Caption: "Failed attempts and retries, over the whole run", Head: []string{"operation and class", "failed", "tried again"}}
	attempts, retried := map[string]int64{}, map[string]int64{}
	for _, c := range s.Errors {
		attempts[c.Operation+": "+c.Class] += c.Count
	}
	for _, c := range s.Retries {
		retried[c.Operation+": "+c.Class] += c.Count
	}
	all := maps.Clone(attempts)
	maps.Copy(all, retried)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Rows = append(t.Rows, []string{name, integer(attempts[name]), integer(retried[name])})
	}
	return t
}

func auditTable(s result.Summary) table {
	t := table{Caption: "Audit", Head: []string{"check", "expected", "found", "verdict"}}
	if s.Audit == nil {
		return t
	}
	for _, c := range s.Audit.Checks {
		name := c.Name
		if len(s.Targets) > 1 {
			name = c.Target + ": " + name
		}
		t.Rows = append(t.Rows, []string{name, c.Expected, c.Found, verdictWord(c.Passed)})
	}
	return t
}

// engineOf is an engine, by what its users called, and what is yet to be proven of it.
func engineOf(name string, p result.Parameters) string {
	if p.Calls != "" {
		name += ", called by " + p.Calls
	}
	if p.Proof != "" {
		name += "; " + p.Proof
	}
	return name
}

// proofNote is a note of what is yet to be proven of an engine; empty where that is nothing.
func proofNote(engine string, p result.Parameters) string {
	if p.Proof == "" {
		return ""
	}
	return fmt.Sprintf("Engine %s is %s", engine, p.Proof)
}

// setup begins the table of what is needed to repeat a run or a search.
func setup(kind, id, kit string, start, end time.Time, engine string, targets []string, size string) table {
	t := list("Setup")
	t.Rows = [][]string{{kind, id}, {"kit version", kit}, {"started", start.UTC().Format(time.DateTime) + " UTC"}}
	if !end.IsZero() {
		t.Rows = append(t.Rows, []string{"ended", end.UTC().Format(time.DateTime) + " UTC"})
	}
	t.Rows = append(t.Rows, []string{"engine", engine}, []string{"targets", strings.Join(targets, ", ")}, []string{"size", size})
	return t
}

// setupTable is all that is needed to repeat the run.
func setupTable(s result.Summary) table {
	p := s.Parameters
	t := setup("run", s.RunID, s.KitVersion, s.Start, s.End, engineOf(s.Engine, p), s.Targets, s.Size)
	add := func(name string, value any) { t.add(name, "%v", value) }
	add("users", fmt.Sprintf("%d on each target", s.Threads))
	add("seed", s.Seed)
	for i, seed := range s.DataSeeds {
		add("data seed of "+s.Targets[i], seed)
	}
	add("ramp", fmt.Sprintf("%s users a second", plain(p.RampRate)))
	add("warm-up", plain(p.WarmupTime)+" s")
	add("run time", plain(p.RunTime)+" s")
	add("think time", plain(p.ThinkTime)+" s")
	for _, own := range p.InWords {
		add(own.Name, own.Value)
	}
	if p.Rate > 0 {
		add("rate", fmt.Sprintf("%s %s a second, %s", plain(p.Rate), s.Words.Cycles, p.Spacing))
	}
	for _, phase := range s.Phases {
		add("phase "+string(phase.Phase), fmt.Sprintf("%s to %s s", number(phase.From, 1), number(phase.To, 1)))
	}
	return t
}

// plain prints a number without needless decimals.
func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

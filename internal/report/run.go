package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// runView is a record as it is shown: the page and the text are made of the same tables.
type runView struct {
	ID       string // of its part of the page
	RunID    string // or what else links to it are to say
	Title    string
	Headline string // the result in one line
	Byline   string // when, and with what
	Facts    []fact
	Notes    []string
	Good     bool    // nothing in the notes speaks against the result
	Tables   []table // above the charts
	Charts   []chart
	Details  []table // below them
}

func newRunView(r *result.Record, id string) (runView, error) {
	v := runView{
		ID: id, RunID: r.RunID,
		Title:    runTitle(r.Summary),
		Headline: headline(r.Summary),
		Byline:   byline(r.Start, "run "+r.RunID, r.KitVersion, strings.Join(r.Targets, ", ")),
		Facts:    facts(r.Summary),
		Tables:   append(sectionTables(r.Summary), scrubTable(r.Summary), copyTable(r.Summary), debtTable(r.Debt), resultTable(r.Summary), limitTable(r.Limits), cutTable(r.Cuts, r.Words), replayTable(r.Replay)),
		Details:  []table{latencyTable(r.Summary), targetTable(r.Summary), failureTable(r.Summary), checksumTable(r.DeepChecks), deepCheckTable(r.DeepChecks), auditTable(r.Summary), costTable(r.Costs, r.Words), smartTable(r.SMART), counterTable(r), environmentTable(r.Summary), setupTable(r.Summary), logTable(r.Summary), commandTable(r.Command)},
	}
	v.Notes, v.Good = notes(r.Summary)
	var err error
	v.Charts, err = charts(r, id)
	return v, err
}

func runTitle(s result.Summary) string {
	title := fmt.Sprintf("%s, size %s, %s", s.Engine, s.Size, users(s.Threads*len(s.Targets)))
	if s.Workload != "" {
		return s.Workload + " on " + title
	}
	return title
}

// sectionTables are what the workload itself has to show.
func sectionTables(s result.Summary) (tables []table) {
	for _, section := range s.Sections {
		tables = append(tables, table{Caption: section.Title, Head: section.Head, Rows: section.Rows, Words: section.Words})
	}
	return tables
}

// headline is the figure that counts. A run shows it whole, so that its orders and seconds multiply out; what compares
// runs shows as many digits as the intervals are worth.
func headline(s result.Summary) string {
	f := s.Figure
	if f == nil {
		return "no result"
	}
	text := number(f.Value, 1) + " " + f.Unit
	if f.CI95 != nil {
		text += " ± " + uncertainty(f.CI95)
	}
	return text
}

// notes are the sentences under the headline: how the run ended, whether it was steady, what the audit said.
func notes(s result.Summary) (sentences []string, good bool) {
	good, sentences = s.Status == result.Done, proofNote(s.Engine, s.Parameters)
	if !good {
		sentence := fmt.Sprintf("The run is recorded as %s.", s.Status)
		if s.Error != "" {
			sentence = fmt.Sprintf("The run is recorded as %s: %s.", s.Status, s.Error)
		}
		sentences = append(sentences, sentence)
	}
	for _, section := range s.Sections {
		sentences = append(sentences, section.Notes...)
	}
	if len(s.Windows) > 0 {
		w := s.Windows[0]
		sentence := fmt.Sprintf("Mean of the %s completed a minute from %s to %s", s.Words.Cycles, seconds(w.From), seconds(w.To))
		if w.CI95 != nil {
			sentence += ", with its 95 % confidence interval"
		}
		if ofCycles(s) {
			sentences = append(sentences, sentence+".")
		}
		if w.NoCI95 != "" {
			sentences = append(sentences, fmt.Sprintf("The run is %s.", w.NoCI95))
		}
		if w.FewSamples != "" {
			sentences = append(sentences, fmt.Sprintf("The confidence interval is wide and less certain than others, as it rests on %s.", w.FewSamples))
		}
		sentences = append(sentences, capital(w.Steady.Why)+".")
		if w.Cycle != nil {
			sentences = append(sentences, capital(w.Cycle.Why)+".")
		}
		good = good && w.Steady.Verdict
		if w.Trend != nil {
			sentences = append(sentences, capital(w.Trend.Why)+".")
		}
		if note := openLoopNote(s); note != "" {
			sentences = append(sentences, note)
		}
	}
	sentences = append(sentences, debtNotes(s)...)
	if note := cumulativeNote(s); note != "" {
		sentences = append(sentences, note)
	}
	if note := faultNote(s); note != "" {
		sentences = append(sentences, note)
	}
	sentences = append(sentences, bottleneckNotes(s.Bottleneck)...)
	for _, warning := range s.Warnings {
		sentences = append(sentences, sentence("Warning: "+warning))
	}
	if note := powerNote(s); note != "" {
		sentences = append(sentences, note)
	}
	if hot := smartNotes(s.SMART); len(hot) > 0 {
		sentences, good = append(sentences, hot...), false
	}
	if note := limitNote(s.Limits); note != "" {
		sentences = append(sentences, note)
		good = good && limit.Passed(s.Limits)
	}
	if note := crashNote(s.Crash); note != "" {
		sentences = append(sentences, note)
	}
	if note := cutsNote(s.Cuts); note != "" {
		sentences = append(sentences, note)
		good = good && s.Cuts.Lossy == 0
	}
	if note := replayNote(s.Replay); note != "" {
		sentences = append(sentences, note)
	}
	if note, whole := deepCheckNote(s.DeepChecks); note != "" {
		sentences = append(sentences, note)
		good = good && whole
	}
	if s.Audit == nil {
		return append(sentences, "The database was not audited."), false
	}
	if s.Audit.NotAudited != "" {
		return append(sentences, fmt.Sprintf("The database was not audited: %s; ds2 verify --record does it.", s.Audit.NotAudited)), false
	}
	if s.Audit.Passed {
		return append(sentences, fmt.Sprintf("The audit passed: all %d checks of the database hold.", len(s.Audit.Checks))), good
	}
	return append(sentences, fmt.Sprintf("The audit FAILED: %d of %d checks of the database do not hold.", len(auditTable(s).failures().Rows), len(s.Audit.Checks))), false
}

// ofCycles says that the figure that counts is that of cycles a minute.
func ofCycles(s result.Summary) bool { return s.Figure != nil && s.Figure.Unit == s.Words.Rate }

// cumulativeNote is the average since the warm-up, so that published ones can be compared; empty where there is none.
func cumulativeNote(s result.Summary) string {
	if s.CumulativeOPM == nil || !ofCycles(s) {
		return ""
	}
	words := s.Words
	text := fmt.Sprintf("Cumulative %s%s: %s, the average since the end of the warm-up", words.Rate, words.Cumulative, number(*s.CumulativeOPM, 1))
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
		ci := "–"
		if w.CI95 != nil {
			ci = uncertainty(w.CI95)
		}
		row := []string{w.Name, seconds(w.From), seconds(w.To), integer(w.Counts.Orders), number(w.OPM, 1), ci,
			number(w.RunningAverageOPM, 1), integer(w.Errors)}
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

// proofNote is a note of what is yet to be proven of an engine.
func proofNote(engine string, p result.Parameters) []string {
	if p.Proof == "" {
		return nil
	}
	return []string{fmt.Sprintf("Engine %s is %s.", engine, p.Proof)}
}

// setupTable is all that is needed to repeat the run.
func setupTable(s result.Summary) table {
	p := s.Parameters
	t := table{Caption: "Setup", Head: []string{"what", "value"}, Words: true}
	add := func(name string, value any) { t.Rows = append(t.Rows, []string{name, fmt.Sprint(value)}) }
	add("run", s.RunID)
	add("kit version", s.KitVersion)
	add("started", s.Start.UTC().Format(time.DateTime)+" UTC")
	if !s.End.IsZero() {
		add("ended", s.End.UTC().Format(time.DateTime)+" UTC")
	}
	add("engine", engineOf(s.Engine, p))
	add("targets", strings.Join(s.Targets, ", "))
	add("size", s.Size)
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

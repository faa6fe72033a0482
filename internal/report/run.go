package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ds2/internal/compare"
	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/numbers"
	"ds2/internal/result"
)

// alone is a run as the only configuration of a comparison.
func alone(s result.Summary) comparison {
	single := compare.Single(s)
	single.Runs[0].Counts = true // whatever it ended by: its figures are shown
	return comparison{compare.Comparison{
		Configurations: []compare.Configuration{{Name: "the run", Bench: single}},
	}}
}

func runView(r *result.Record, id string) view {
	s := r.Summary
	v := view{
		ID:       id,
		RunID:    r.RunID,
		Title:    fmt.Sprintf("Run %s: %s", s.RunID, runTitle(s)),
		Headline: Headline(s),
		Byline:   byline(r.Start, "run "+r.RunID, r.KitVersion, strings.Join(r.Targets, ", ")),
		Figures:  alone(s).figures(),
		draw:     func() ([]chart, error) { return charts(r, id) },
	}
	v.Figures.Head = []string{"figure", "value"}
	if s.Words.Unit == result.IOPS { // what its readers look for first
		for _, l := range s.Limits {
			name := l.Limit
			if l.Unit == result.UnitIOPS { // the published reports rank by those with the log's
				name += ", without the log's"
			}
			v.Figures.row(name, l.Value()+", "+limitWord(l))
		}
	}
	v.findRun(s)
	if b := s.Bottleneck; b != nil {
		v.because(sentence(fmt.Sprintf("Bottleneck: %s. %s", b.What, capital(b.Why))))
		if of := diagnose.OfDevice(b.Figures); of != "" {
			v.because(sentence("Device: " + of))
		}
	}
	v.because(disturbanceNotes(s)...)
	v.findBelow(s.Findings, result.AuditPassed)
	for _, section := range s.Sections {
		t := table{
			Caption: section.Title,
			Head:    section.Head,
			Rows:    section.Rows,
			Words:   section.Words,
		}
		v.Tables = append(v.Tables, t)
	}
	v.Tables = append(
		v.Tables,
		scrubTable(s),
		resultTable(s),
		latencyTable(s),
		eventTable(s),
		slowestTable(s),
		ioTable(s),
		limitTable(s.Limits).trimmed(),
		targetTable(s),
		failureTable(s),
		deepCheckTable(s.DeepChecks),
		auditTable(s),
		costTable(s.Costs, s.Words),
		smartTable(s.SMART),
		counterTable(r),
		environmentTable(s),
		setupTable(s),
		logTable(s),
		commandTable(s.Command),
	)
	return v
}

func runTitle(s result.Summary) string {
	title := fmt.Sprintf("%s, size %s, %s", s.Engine, s.Size, users(s.Threads*len(s.Targets))) +
		ofTargets(s.Spec)
	if s.Workload != "" {
		return s.Workload + " on " + title
	}
	return title
}

// ofTargets names the databases at the end of a title.
func ofTargets(spec result.Spec) string {
	if len(spec.Targets) == 0 {
		return ""
	}
	return ", on " + strings.Join(spec.Targets, " and ")
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
	if s.Pace != nil {
		text += " of a target of " + opmOf(&s.Pace.Target, nil)
	}
	if d := s.Storage; d != nil && f.Unit == result.IOPS {
		text += fmt.Sprintf(" (%s with the log)", numbers.Decimals(d.Total(), 0))
	}
	if f.Unit == result.IOPS && len(s.Limits) > 0 {
		text = passOrFail(s) + ": " + text
	}
	if b := s.Bottleneck; b != nil && diagnose.LimitedBy[b.What] != "" {
		text += ", limited by " + diagnose.LimitedBy[b.What]
	}
	return text
}

// passOrFail is the verdict of a test of drives.
func passOrFail(s result.Summary) string {
	switch worst := result.WorstEffect(s.Findings); {
	case worst == result.Fails:
		return "Fail"
	case worst != result.Withholds && len(s.Limits) > 0:
		return "Pass"
	}
	return "Not judged"
}

// findRun adds what was found of a run, and what is good to know beside it.
func (v *view) findRun(s result.Summary) {
	v.found(without(s.Findings, result.AuditPassed)) // which stands below the figures
	for _, section := range s.Sections {
		for _, note := range section.Notes {
			v.note(note)
		}
	}
	if len(s.Windows) > 0 {
		v.noteWindow(s)
	}
	v.note(cumulativeNote(s))
	v.note(powerNote(s))
}

func (v *view) noteWindow(s result.Summary) {
	w := s.Windows[0]
	if ofCycles(s) {
		from := seconds(w.From)
		to := seconds(w.To)
		v.note(
			fmt.Sprintf(
				"Mean of the %s completed a minute from %s to %s",
				s.Words.Cycles,
				from,
				to,
			),
		)
	}
	if w.Cycle != nil && !w.Cycle.Partial() {
		v.note(w.Cycle.Why)
	}
	if w.Trend != nil {
		v.note(w.Trend.Why)
	}
	v.note(openLoopNote(s))
}

// ofCycles says that the figure that counts is that of cycles a minute.
func ofCycles(s result.Summary) bool { return s.Figure != nil && s.Figure.Unit == s.Words.Rate }

// cumulativeNote is the average since the warm-up, so that published ones can be compared; empty
// where there is none.
func cumulativeNote(s result.Summary) string {
	if s.CumulativeOPM == nil || !ofCycles(s) {
		return ""
	}
	text := fmt.Sprintf("Cumulative %s%s: %s, the average since the end of the warm-up",
		s.Words.Rate, s.Words.Cumulative, opmOf(s.CumulativeOPM, nil))
	if of := s.CumulativeOf; of != nil {
		text += fmt.Sprintf(
			" (%s %s in %s)",
			numbers.Integer(of.Orders),
			s.Words.Cycles,
			seconds(of.Seconds),
		)
	}
	return text + "."
}

func capital(s string) string {
	first := min(len(s), 1)
	return strings.ToUpper(s[:first]) + s[first:]
}

func resultTable(s result.Summary) table {
	t := newTable(
		"Windows",
		"window",
		"from",
		"to",
		s.Words.Cycles,
		s.Words.Rate,
		"± 95 %",
		"mean running average",
	)
	t.Head = slices.Concat(t.Head, undone(s.Words, s.Words.Undone), []string{"failed attempts"})
	for _, w := range s.Windows {
		row := []string{
			w.Name,
			seconds(w.From),
			seconds(w.To),
			numbers.Integer(w.Counts.Orders),
			opmOf(&w.OPM, w.CI95),
			cmp.Or(uncertainty(w.CI95), "–"),
			opmOf(&w.RunningAverageOPM, nil),
		}
		row = append(
			row,
			undone(s.Words, numbers.Share(w.Counts.Of(s.Words.Undone), w.Counts.Orders, 2))...)
		t.row(append(row, numbers.Integer(w.Errors))...)
	}
	return t
}

// undone is a cell about cycles that left nothing behind, where the workload has such.
func undone(words result.Words, cell string) []string {
	if words.Undone == "" {
		return nil
	}
	return []string{cell}
}

// seriesOf lists what there are response times of: whole orders first, then the operations.
func seriesOf[V any](byName map[string]V) []string {
	names := slices.Sorted(maps.Keys(byName))
	if i := slices.Index(names, measure.WholeOrder); i > 0 {
		names = append([]string{measure.WholeOrder}, slices.Delete(names, i, i+1)...)
	}
	return names
}

func latencyTable(s result.Summary) table {
	t := newTable("Response times in milliseconds",
		"operation", "count", "mean", "p25", "p50", "p75", "p95", "p99", "p99.9", "max")
	if len(s.Windows) == 0 {
		return t
	}
	w := s.Windows[0]
	t.Caption += fmt.Sprintf(", from %s to %s", seconds(w.LatencyFrom), seconds(w.LatencyTo))
	for _, name := range seriesOf(w.Latency) {
		l := w.Latency[name]
		title := name
		if name == measure.WholeOrder {
			title = s.Words.Cycle
		} else if name == s.Words.Cycle {
			continue // a cycle of one operation, which stands above
		}
		t.figures(title, l.Count, l.Mean, l.P25, l.P50, l.P75, l.P95, l.P99, l.P999, l.Max)
		if name == measure.WholeOrder && w.OwnMean != nil && s.Words.Own != "" {
			own := []string{s.Words.Own, numbers.Integer(w.Counts.Orders), figure(*w.OwnMean)}
			t.row(append(own, slices.Repeat([]string{"–"}, len(t.Head)-len(own))...)...)
		}
	}
	return t
}

// figures adds a row of a count and measured values.
func (t *table) figures(name string, count int64, values ...float64) {
	row := []string{name, numbers.Integer(count)}
	for _, v := range values {
		row = append(row, figure(v))
	}
	t.row(row...)
}

func failureTable(s result.Summary) table {
	t := newTable(
		"Failed attempts and retries, over the whole run",
		"operation and class",
		"failed",
		"tried again",
	)
	counts := map[string][2]int64{}
	for i, failures := range [][]measure.FailureCount{s.Errors, s.Retries} {
		for _, f := range failures {
			name := f.Operation + ": " + f.Class
			n := counts[name]
			n[i] += f.Count
			counts[name] = n
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		t.row(name, numbers.Integer(counts[name][0]), numbers.Integer(counts[name][1]))
	}
	return t
}

func auditTable(s result.Summary) table {
	t := newTable("Audit", "check", "expected", "found", "verdict")
	for _, c := range cmp.Or(s.Audit, new(result.Audit)).Checks {
		name := c.Name
		if len(s.Targets) > 1 {
			name = c.Target + ": " + name
		}
		t.row(name, c.Expected, c.Found, verdictWord(c.Passed))
	}
	return t
}

// proofNote is a note of what is yet to be proven of an engine; empty where that is nothing.
func proofNote(s result.Spec) string {
	if s.Proof == "" {
		return ""
	}
	return fmt.Sprintf("Engine %s is %s", s.Engine, s.Proof)
}

const utc = time.DateTime + " UTC"

// setup begins the table of what is needed to repeat a run or a search.
func setup(kind string, s result.Spec, start, end time.Time) table {
	t := list("Setup")
	t.Rows = [][]string{
		{kind, s.RunID},
		{"kit version", s.KitVersion},
		{"started", start.UTC().Format(utc)},
	}
	if !end.IsZero() {
		t.row("ended", end.UTC().Format(utc))
	}
	t.row("engine", s.Engine)
	t.row("targets", strings.Join(s.Targets, ", "))
	t.row("size", s.Size)
	return t
}

func setupTable(s result.Summary) table {
	t := setup("run", s.Spec, s.Start, s.End)
	t.add("users", "%d on each target", s.Threads)
	t.add("seed", "%d", s.Seed)
	for i, seed := range s.DataSeeds {
		t.add("data seed of "+s.Targets[i], "%d", seed)
	}
	t.row("ramp", plain(s.RampRate)+" users a second")
	t.row("warm-up", plain(s.WarmupTime.Seconds())+" s")
	t.row("run time", plain(s.RunTime.Seconds())+" s")
	t.row("think time", plain(s.ThinkTime.Seconds())+" s")
	for _, own := range s.InWords {
		t.row(own.Name, own.Value)
	}
	if s.Rate > 0 {
		t.add("rate", "%s %s a second, %s", plain(s.Rate), s.Words.Cycles, s.Spacing)
	}
	for _, phase := range s.Phases {
		t.add("phase "+string(phase.Phase), "%s to %s s",
			numbers.Decimals(phase.From, 1), numbers.Decimals(phase.To, 1))
	}
	return t
}

// plain prints a number without needless decimals.
func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

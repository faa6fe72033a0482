package report

import (
	"ds2/internal/conclude"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// BenchHTML writes the page of one bench: its result, its runs laid over each other, and the run that stands for it.
func BenchHTML(w io.Writer, c Configuration) error {
	v := benchView(c)
	apart := Comparison{}
	for _, r := range conclude.Counted(c.Bench) {
		apart.Configurations = append(apart.Configurations, Configuration{Name: r.Dir, Dir: c.Dir, Bench: result.Bench{Median: r.Dir, Words: c.Words}, read: c.read})
	}
	var err error
	if v.Charts, err = overlays(apart, "each run that counts"); err != nil {
		return err
	}
	if runs, drawn := runsChart(c.Bench); drawn {
		v.Charts = append([]chart{runs}, v.Charts...)
	}
	views := []runView{v}
	if c.Median != "" {
		median, err := c.read.Run(filepath.Join(c.Dir, c.Median))
		if err != nil {
			return err
		}
		median.Command = nil // the bench's
		run, err := newRunView(median, "run1")
		if err != nil {
			return fmt.Errorf("report %s: %w", median.Dir, err)
		}
		run.RunID = c.Median
		run.Title = "The run that stands for the configuration: " + run.Title
		views = append(views, run)
	}
	return writePage(w, "ds2 bench "+c.Name, views)
}

// BenchText writes a bench for reading on a terminal: the page without its charts.
func BenchText(w io.Writer, c Configuration) error {
	views := []runView{benchView(c)}
	if c.Median != "" {
		median, err := c.read.Run(filepath.Join(c.Dir, c.Median))
		if err != nil {
			return err
		}
		median.Command = nil // the bench's
		v := textView(median)
		v.Title = "The run that stands for the configuration, " + v.Title
		views = append(views, v)
	}
	return writeText(w, views...)
}

// benchView is what a bench came to.
func benchView(c Configuration) runView {
	runs := conclude.Counted(c.Bench)
	wrong := func(r result.BenchRun) bool { return len(r.Wrong()) > 0 }
	v := runView{
		ID: "bench", RunID: "bench",
		Title:    fmt.Sprintf("Bench %s: %s, size %s, %s", c.Name, c.Setup.Engine, c.Setup.Size, users(c.Setup.Threads)),
		Headline: "no result",
		Good:     c.Status == result.Done && !slices.ContainsFunc(runs, wrong) && limit.Passed(c.Limits),
		Byline:   byline(c.Start, "bench "+c.BenchID, c.KitVersion, strings.Join(c.Setup.Targets, ", ")),
		Facts:    benchFacts(c.Bench),
		Tables:   []table{runTable(c.Bench), limitTable(c.Limits), conditionTable(c.Bench), medianCosts(c.Bench)},
		Details:  []table{commandTable(c.Command)},
		Notes:    benchNotes(c),
	}
	switch {
	case c.Figure == nil:
	case c.RunsCI95 != nil:
		v.Headline = fmt.Sprintf("%s %s, the median of %d runs; their mean is %s ± %s", worth(c.Figure.Value, *c.RunsCI95), c.Unit(), len(runs),
			worth(*c.RunsMean, *c.RunsCI95), uncertainty(c.RunsCI95))
	default:
		v.Headline = fmt.Sprintf("%s %s, of a single run", opmOf(c.Value(), c.CI95()), c.Unit())
	}
	if note := limitNote(c.Limits); note != "" {
		v.Notes = append(v.Notes, note)
	}
	for _, r := range c.Runs {
		if wrong(r) {
			v.Notes = append(v.Notes, sentence("Flagged: "+faultText(c, r)))
		}
	}
	return v
}

// ofRun is a run's OPM, with as many digits as its interval is worth.
func ofRun(r result.BenchRun) string { return opmOf(r.Value(), r.CI95()) }

// opmOf is an OPM with as many digits as half the width of its interval is worth, where it has one.
func opmOf(opm, half *float64) string {
	if opm == nil || half == nil {
		return decimal(opm, 1)
	}
	return worth(*opm, *half)
}

// runTable is every run of a bench, also those that do not count.
func runTable(b result.Bench) table {
	t := table{Caption: "Runs", Head: []string{"run", b.Unit(), "± 95 % within the run", b.Words.Cycle + " p95 ms", "device reads/s", "device limit reads/s", "device writes/s", "device limit log writes/s", "idle W", "active W", "bottleneck", "counts"}}
	for _, r := range b.Runs {
		var counts string
		switch {
		case r.Dir == b.Median:
			counts = "yes, the median"
		case r.Counts:
			counts = "yes"
		case r.Unsteady != "" && len(r.Faults) == 0:
			counts = "dropped: not steady"
		case conclude.OtherUnit(b, r) != "":
			counts = "no: " + conclude.OtherUnit(b, r)
		case r.Figure != nil:
			counts = "dropped"
		default:
			counts = "no, " + string(r.Status)
		}
		if r.Counts && r.Unsteady != "" {
			counts += ", not steady"
		}
		t.Rows = append(t.Rows, []string{r.Dir, ofRun(r), uncertainty(r.CI95()), figureOr(r.P95), figureOr(condition(result.ReadsOfDevices)(r)),
			figureOr(condition(result.LimitOfReads)(r)), figureOr(condition(result.WritesOfDevices)(r)), figureOr(condition(result.LimitOfLogWrites)(r)), decimal(r.Idle, 1), decimal(r.Active, 1), r.Bottleneck, counts})
	}
	return t.trimmed()
}

// benchNotes say what the runs of a bench come to together, and which were left out.
func benchNotes(c Configuration) (notes []string) {
	runs := conclude.Counted(c.Bench)
	notes = proofNote(c.Setup.Engine, c.Setup.Parameters)
	if c.RunsCI95 != nil {
		notes = append(notes, fmt.Sprintf("The %d runs of %s that count come to %s ± %s %s on average (95 %% confidence from run to run, by Student's t); (max − min) / mean is %.1f %%.",
			len(runs), c.Name, worth(*c.RunsMean, *c.RunsCI95), uncertainty(c.RunsCI95), c.Unit(), *c.RunsSpread))
	}
	unsteady, dropped := 0, 0
	for _, r := range c.Runs {
		switch {
		case r.Unsteady != "" && r.Counts:
			unsteady++
		case r.Unsteady != "" && r.Figure != nil:
			dropped++
		}
	}
	if unsteady > 0 {
		notes = append(notes, fmt.Sprintf("Of the runs of %s that count, %d of %d are not steady.", c.Name, unsteady, len(runs)))
	}
	if dropped > 0 && c.Setup.DropUnsteady {
		notes = append(notes, fmt.Sprintf("Runs of %s that were not steady and so were dropped (--drop-unsteady): %d. The result flatters a drive that is erratic.", c.Name, dropped))
	}
	notes = append(notes, warningNotes(c.Name, runs)...)
	if c.Kind == result.KindBench && c.Status != result.Done {
		notes = append(notes, sentence(fmt.Sprintf("Warning: the bench %s is not done (%s): %d of %d runs count", c.Name, c.Status, len(runs), c.Setup.Runs)))
	}
	return notes
}

// warningNotes count the warnings of runs. Those that differ in their figures alone are one.
func warningNotes(name string, runs []result.BenchRun) (notes []string) {
	type warning struct {
		text, dir string // of the first
		runs      int
	}
	var all []warning
	known := map[string]int{}
	for _, r := range runs {
		seen := map[string]bool{}
		for _, text := range r.Warnings {
			kind := strings.Map(wordsOnly, text)
			if seen[kind] {
				continue
			}
			seen[kind] = true
			if _, some := known[kind]; !some {
				known[kind], all = len(all), append(all, warning{text: text, dir: r.Dir})
			}
			all[known[kind]].runs++
		}
	}
	for _, w := range all {
		if w.dir == "." {
			notes = append(notes, sentence(fmt.Sprintf("Warning of %s: %s", name, w.text)))
			continue
		}
		notes = append(notes, sentence(fmt.Sprintf("Warnings in %d of the %d runs of %s that count, such as in %s: %s", w.runs, len(runs), name, w.dir, w.text)))
	}
	return notes
}

// wordsOnly leaves out digits.
func wordsOnly(r rune) rune {
	if unicode.IsDigit(r) {
		return -1
	}
	return r
}

// enoughToExplain is how many runs it takes to say that a condition goes with OPM.
const enoughToExplain = 4

// conditionTable is under which conditions each run that has an OPM was made, and which of them go with OPM: why runs
// differ.
func conditionTable(b result.Bench) table {
	t := table{Caption: "Why the runs differ: conditions in the first window", Head: []string{"condition", "unit"}}
	var runs []result.BenchRun
	for _, r := range b.Runs {
		if r.Figure != nil && len(r.Conditions) > 0 {
			runs = append(runs, r)
			t.Head = append(t.Head, r.Dir)
		}
	}
	if len(runs) < 2 {
		return t
	}
	t.Head = append(t.Head, "with "+b.Unit())
	var goes []goesWith
	for _, c := range runs[0].Conditions {
		row := []string{c.Name, c.Unit}
		var opm, values []float64
		for _, r := range runs {
			v := condition(c.Name)(r)
			row = append(row, figureOr(v))
			if v != nil {
				opm, values = append(opm, r.Figure.Value), append(values, *v)
			}
		}
		r, p := measure.Correlation(values, opm)
		t.Rows, goes = append(t.Rows, row), append(goes, goesWith{len(values), r, p})
	}
	corrected := make([]float64, len(goes))
	for i := range goes {
		corrected[i] = math.NaN()
		if goes[i].runs >= enoughToExplain {
			corrected[i] = goes[i].p
		}
	}
	for i, p := range measure.Holm(corrected) {
		goes[i].p = p
		t.Rows[i] = append(t.Rows[i], goes[i].String())
	}
	return t
}

// goesWith is whether a condition goes with OPM: Pearson's correlation in so many runs, tested by Student's t, and corrected for the
// number of conditions: of 22 that mean nothing, one or more would else seem to in two of three benches.
type goesWith struct {
	runs int
	r, p float64
}

func (g goesWith) String() string {
	r, p := g.r, g.p
	switch {
	case g.runs < enoughToExplain:
		return fmt.Sprintf("(takes %d runs)", enoughToExplain)
	case math.IsNaN(r):
		return "the same in all"
	case p < differenceLevel:
		return fmt.Sprintf("yes: r = %+.2f, %s", r, measure.Significance(p, differenceLevel))
	}
	return fmt.Sprintf("no: r = %+.2f", r)
}

// medianCosts are those of an order in the run that stands for the configuration.
func medianCosts(b result.Bench) table {
	for _, r := range b.Runs {
		if r.Dir == b.Median {
			return costTable(r.Costs, b.Words)
		}
	}
	return table{}
}

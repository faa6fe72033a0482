package report

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"ds2/internal/compare"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// Page is what there is to read of a bench: its result, its runs laid over each other, and the run that stands for it.
func (c Configuration) Page() Page {
	p := Page{"ds2 bench " + c.Name, []view{benchView(c)}}
	p.views[0].Tables = append(p.views[0].Tables, disclosureTable([]Configuration{c}))
	if c.Median == "" {
		return p
	}
	median, err := c.Read.Run(filepath.Join(c.Dir, c.Median))
	if err != nil {
		p.views[0].find(reservation, err.Error())
		return p
	}
	median.Command = nil // the bench's
	run := runView(median, "run1")
	run.RunID, run.Part, run.Title = c.Median, true, "The run that stands for the configuration: "+run.Title
	p.views = append(p.views, run)
	return p
}

func benchView(c Configuration) view {
	alone := Comparison{Configurations: []Configuration{c}}
	v := view{
		ID: "bench", RunID: "bench", Headline: "no result",
		Title:   "Bench " + c.title(),
		Byline:  byline(c.Start, "bench "+c.BenchID, c.KitVersion, strings.Join(c.Setup.Targets, ", ")),
		Figures: alone.figures(),
		Tables: []table{
			runTable(alone.Configurations, c.Median), limitTable(c.Limits), conditionTable(c), medianCosts(c),
			commandTable(c.Command),
		},
		Findings: benchFindings(c),
		draw:     func() ([]chart, error) { return alone.charts("bench", runsApart(c)) },
	}
	v.because(c.why())
	switch {
	case c.Figure == nil:
		v.find(unknown, "No run counts")
	case c.RunsCI95 != nil:
		v.Headline = fmt.Sprintf("%s %s, the median of %d runs; their mean is %s ± %s",
			worth(c.Figure.Value, *c.RunsCI95), c.Unit(), len(compare.Counted(c.Bench)),
			worth(*c.RunsMean, *c.RunsCI95), uncertainty(c.RunsCI95))
	default:
		v.Headline = fmt.Sprintf("%s %s, of a single run", opmOf(c.Value(), c.CI95()), c.Unit())
		v.find(reservation, "A single run does not tell how much runs scatter")
	}
	if d := compare.DriftOf(c.Bench); d != nil {
		v.find(unknown, driftText(c.Name, d))
	}
	v.findLimits(c.Limits)
	return v
}

func (c Configuration) title() string {
	return fmt.Sprintf("%s: %s, size %s, %s", c.Name, c.Setup.Engine, c.Setup.Size, users(c.Setup.Threads))
}

// runsApart are the runs of a bench that have a result, each as a configuration.
func runsApart(c Configuration) (all []Configuration) {
	for _, r := range c.Runs {
		if r.Figure == nil {
			continue
		}
		one := result.Bench{Words: c.Words, Headline: r.Headline, Runs: []result.BenchRun{r}}
		all = append(all, Configuration{Name: r.Dir, Bench: one})
	}
	return all
}

// ofRun is a run's OPM, with as many digits as its interval is worth.
func ofRun(r result.BenchRun) string { return opmOf(r.Value(), r.CI95()) }

// benchFindings are what speaks for a bench, and which runs were left out.
func benchFindings(c Configuration) []finding {
	runs, v := compare.Counted(c.Bench), view{}
	if failed := compare.Failed(c.Bench); len(failed) > 0 {
		var texts []string
		for _, r := range failed {
			texts = append(texts, r.Dir+": "+strings.Join(r.Faults, "; "))
		}
		v.findf(reservation, "%d of %d runs of %s failed: %s", len(failed), len(failed)+len(runs), c.Name,
			strings.Join(texts, "; "))
	}
	v.find(aside, proofNote(c.Setup.Engine, c.Setup.Parameters))
	if c.RunsCI95 != nil {
		v.findf(proof, "The %d runs of %s that count come to %s ± %s %s on average "+
			"(95 %% confidence from run to run, by Student's t); (max − min) / mean is %.1f %%",
			len(runs), c.Name, worth(*c.RunsMean, *c.RunsCI95), uncertainty(c.RunsCI95), c.Unit(), *c.RunsSpread)
	}
	unsteady, dropped := 0, 0
	for _, r := range c.Runs {
		switch {
		case r.Unsteady != "" && r.Counts:
			unsteady++
		case r.Unsteady != "" && r.Figure != nil && !r.Practice:
			dropped++
		}
	}
	if unsteady > 0 {
		v.findf(reservation, "Of the runs of %s that count, %d of %d are not steady", c.Name, unsteady, len(runs))
	}
	if dropped > 0 && c.Setup.DropUnsteady {
		v.findf(reservation, "Runs of %s that were not steady and so were dropped (--drop-unsteady): %d. "+
			"The result flatters a drive that is erratic", c.Name, dropped)
	}
	v.earn(c.Value(), c.halfWidth(), bottleneck(c.Bench))
	v.findWarnings(c.Name, runs)
	if c.Kind == result.KindBench && c.Status != result.Done {
		v.findf(reservation, "Warning: the bench %s is not done (%s): %d of %d runs count",
			c.Name, c.Status, len(runs), c.Setup.Runs)
	}
	for _, r := range c.Runs {
		l := aside
		switch {
		case r.Counts && len(r.Faults) > 0:
			l = failure
		case r.Counts:
			l = reservation
		}
		if len(r.Wrong()) > 0 {
			v.find(l, "Flagged: "+faultText(c, r))
		}
	}
	return v.Findings
}

// findWarnings counts the warnings of runs. Those that differ in their figures alone are one.
func (v *view) findWarnings(name string, runs []result.BenchRun) {
	type warning struct {
		text, dir string // of the first
		runs      map[string]bool
	}
	var all []warning
	known := map[string]int{}
	for _, r := range runs {
		for _, text := range r.Warnings {
			kind := strings.Map(wordsOnly, text)
			if _, some := known[kind]; !some {
				known[kind] = len(all)
				all = append(all, warning{text, r.Dir, map[string]bool{}})
			}
			all[known[kind]].runs[r.Dir] = true
		}
	}
	for _, w := range all {
		if w.dir == "." {
			v.findf(reservation, "Warning of %s: %s", name, w.text)
			continue
		}
		v.findf(reservation, "Warnings in %d of the %d runs of %s that count, such as in %s: %s",
			len(w.runs), len(runs), name, w.dir, w.text)
	}
}

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
func conditionTable(b Configuration) table {
	t := newTable("Why the runs of "+b.Name+" differ: conditions in the first window", "condition", "unit")
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
	var chances []float64
	made := []string{result.ReadsOfDevices, result.WritesOfDevices, "pages written by checkpoints", "database log"}
	for _, c := range runs[0].Conditions {
		row := []string{c.Name, c.Unit}
		var opm, values []float64
		for _, r := range runs {
			v := condition(c.Name)(r)
			row = append(row, figureOr(v))
			if v != nil && !slices.Contains(made, c.Name) { // of these there are more with more orders, by nature
				opm, values = append(opm, r.Figure.Value), append(values, *v)
			}
		}
		t.row(row...)
		r, p := measure.Correlation(values, opm)
		if len(values) < enoughToExplain {
			p = math.NaN()
		}
		goes, chances = append(goes, goesWith{len(values), r}), append(chances, p)
	}
	for i, p := range measure.Holm(chances) {
		t.Rows[i] = append(t.Rows[i], goes[i].text(p))
	}
	return t
}

// goesWith is whether a condition goes with OPM: Pearson's correlation in so many runs, tested by Student's t, and
// corrected for the number of conditions: of 22 that mean nothing, one or more would else seem to in two of three
// benches.
type goesWith struct {
	runs int
	r    float64
}

func (g goesWith) text(p float64) string {
	switch {
	case g.runs < enoughToExplain:
		return fmt.Sprintf("(takes %d runs)", enoughToExplain)
	case math.IsNaN(g.r):
		return "the same in all"
	case p < differenceLevel:
		return fmt.Sprintf("yes: r = %+.2f, %s", g.r, measure.Significance(p, differenceLevel))
	}
	return fmt.Sprintf("no: r = %+.2f", g.r)
}

// standing is the run that stands for a bench; empty where none does.
func standing(b result.Bench) result.BenchRun {
	for _, r := range b.Runs {
		if r.Dir == b.Median {
			return r
		}
	}
	return result.BenchRun{}
}

func medianCosts(c Configuration) table {
	t := costTable(standing(c.Bench).Costs, c.Words)
	t.Caption = c.Name + ": " + strings.ToLower(t.Caption[:1]) + t.Caption[1:]
	return t
}

package report

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"unicode"

	"ds2/internal/compare"
	"ds2/internal/measure"
	"ds2/internal/numbers"
	"ds2/internal/result"
)

// Bench is the page of a bench: its result, its runs laid over each other, and the run that stands
// for it.
func Bench(c compare.Configuration) Page {
	p := Page{"ds2 bench " + c.Name, []view{benchView(c)}}
	p.views[0].Tables = append(p.views[0].Tables, disclosureTable([]compare.Configuration{c}))
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

func benchView(c compare.Configuration) view {
	alone := comparison{compare.Comparison{Configurations: []compare.Configuration{c}}}
	v := view{
		ID: "bench", RunID: "bench", Headline: "no result",
		Title:   "Bench " + title(c),
		Byline:  byline(c.Start, "bench "+c.RunID, c.KitVersion, strings.Join(c.Targets, ", ")),
		Figures: alone.figures(),
		Tables: []table{
			runTable(alone.Configurations, c.Median),
			limitTable(c.Limits).trimmed(),
			conditionTable(c),
			medianCosts(c),
			commandTable(c.Command),
		},
		draw: func() ([]chart, error) { return alone.charts("bench", runsApart(c)) },
	}
	v.findBench(c)
	v.because(why(c))
	switch {
	case c.Figure == nil:
		v.find(unknown, "No run counts")
	case c.RunsCI95 != nil:
		v.Headline = fmt.Sprintf("%s %s, the median of %d runs (their mean: %s ± %s)",
			numbers.Worth(c.Figure.Value, *c.RunsCI95), c.Unit(), len(compare.Counted(c.Bench)),
			numbers.Worth(*c.RunsMean, *c.RunsCI95), uncertainty(c.RunsCI95))
	default:
		v.Headline = fmt.Sprintf("%s %s, of a single run", opmOf(c.Value(), c.CI95()), c.Unit())
		v.find(reservation, "A single run does not show how much runs vary")
	}
	for _, d := range compare.Drifting(c) {
		v.find(unknown, d.Why)
	}
	v.find(reservation, alone.Lacks())
	v.findLimits(c.Limits)
	return v
}

func title(c compare.Configuration) string {
	return fmt.Sprintf("%s: %s, size %s, %s", c.Name, c.Engine, c.Size, users(c.Threads))
}

// runsApart are the runs of a bench that have a result in its unit, each as a configuration.
func runsApart(c compare.Configuration) (all []compare.Configuration) {
	for _, r := range c.Runs {
		if r.Figure == nil || compare.OtherUnit(c.Bench, r) != "" {
			continue
		}
		one := result.Bench{Spec: c.Spec, Headline: r.Headline, Runs: []result.BenchRun{r}}
		all = append(all, compare.Configuration{Name: r.Dir, Bench: one})
	}
	return all
}

// findBench adds what speaks for a bench, and which runs were left out.
func (v *view) findBench(c compare.Configuration) {
	runs := compare.Counted(c.Bench)
	if failed := compare.Failed(c.Bench); len(failed) > 0 {
		var texts []string
		for _, r := range failed {
			texts = append(texts, r.Dir+": "+strings.Join(r.Faults, "; "))
		}
		v.findf(
			reservation,
			"%d of %d runs of %s failed: %s",
			len(failed),
			len(failed)+len(runs),
			c.Name,
			strings.Join(texts, "; "),
		)
	}
	v.find(aside, proofNote(c.Spec))
	if c.RunsSpread != nil { // not of runs that all completed nothing
		v.findf(
			proof,
			"The %d valid runs of %s average %s ± %s %s "+
				"(95 %% confidence from run to run, by Student's t); (max − min) / mean is %.1f %%",
			len(runs),
			c.Name,
			opmOf(c.RunsMean, c.RunsCI95),
			uncertainty(c.RunsCI95),
			c.Unit(),
			*c.RunsSpread,
		)
	}
	unsteady := 0
	dropped := 0
	for _, r := range c.Runs {
		switch {
		case r.Unsteady != "" && r.Counts:
			unsteady++
		case r.Unsteady != "" && r.Figure != nil && !r.Practice:
			dropped++
		}
	}
	if unsteady > 0 {
		v.findf(
			reservation,
			"%[2]d of %[3]d valid runs of %[1]s are not steady",
			c.Name,
			unsteady,
			len(runs),
		)
	}
	if dropped > 0 && c.DropUnsteady {
		v.findf(
			reservation,
			"Runs of %s that were not steady and so were dropped (--drop-unsteady): %d. "+
				"The result flatters a drive that is erratic",
			c.Name,
			dropped,
		)
	}
	v.findWarnings(c.Name, runs)
	if c.Kind == result.KindBench && c.Status != result.Done &&
		(c.Experiment == "" || c.Status == result.Failed) {
		v.findf(reservation, "Warning: the bench %s is not done (%s): %d of %d runs count",
			c.Name, c.Status, len(runs), c.Spec.Runs)
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
}

// findWarnings counts the warnings of runs. Those that differ in their figures alone are one.
func (v *view) findWarnings(name string, runs []result.BenchRun) {
	var first []string              // of each kind
	warned := map[string][]string{} // runs by kind
	wordsOf := func(text string) string {
		return strings.Join(strings.FieldsFunc(text, unicode.IsDigit), "")
	}
	for _, r := range runs {
		for _, text := range r.Warnings {
			kind := wordsOf(text)
			if warned[kind] == nil {
				first = append(first, text)
			}
			warned[kind] = addNew(warned[kind], r.Dir)
		}
	}
	for _, text := range first {
		if dirs := warned[wordsOf(text)]; dirs[0] == "." {
			v.findf(reservation, "Warning of %s: %s", name, text)
		} else {
			v.findf(reservation, "Warnings in %d of %d valid runs of %s, e.g. %s: %s",
				len(dirs), len(runs), name, dirs[0], text)
		}
	}
}

// conditionTable is under which conditions each run that has an OPM was made, and which of them go
// with OPM: why runs differ.
func conditionTable(b compare.Configuration) table {
	t := newTable(
		"Why the runs of "+b.Name+" differ: conditions in the first window",
		"condition",
		"unit",
	)
	runs, all := compare.Explain(b.Bench)
	for _, r := range runs {
		t.Head = append(t.Head, r.Dir)
	}
	t.Head = append(t.Head, "with "+b.Unit())
	for _, e := range all {
		row := []string{e.Name, e.Unit}
		for _, v := range e.Values {
			row = append(row, figureOr(v))
		}
		t.row(append(row, explainedText(e))...)
	}
	return t
}

func explainedText(e compare.Explained) string {
	switch {
	case e.Known < compare.EnoughToExplain:
		return fmt.Sprintf("(takes %d runs)", compare.EnoughToExplain)
	case math.IsNaN(e.R):
		return "the same in all"
	case e.P < compare.Level:
		return fmt.Sprintf("yes: r = %+.2f, %s", e.R, measure.Significance(e.P, compare.Level))
	}
	return fmt.Sprintf("no: r = %+.2f", e.R)
}

// faultText says what is wrong with a run: "6-ssd, run-2, 36,688.7 OPM, does not count: not steady:
// …".
func faultText(c compare.Configuration, r result.BenchRun) string {
	text := c.Name
	if r.Dir != "." { // else it is a run by itself
		text += ", " + r.Dir
	}
	if r.Figure != nil {
		text += ", " + opmOf(r.Value(), r.CI95()) + " " + c.Unit()
	}
	if !r.Counts {
		text += ", does not count"
	}
	return text + ": " + strings.Join(r.Wrong(), "; ")
}

// medianCosts are the costs of the run that stands for a configuration.
func medianCosts(c compare.Configuration) table {
	var costs *result.Costs
	for _, r := range c.Runs {
		if r.Dir == c.Median {
			costs = r.Costs
		}
	}
	t := costTable(costs, c.Words)
	t.Caption = c.Name + ": " + strings.ToLower(t.Caption[:1]) + t.Caption[1:]
	return t
}

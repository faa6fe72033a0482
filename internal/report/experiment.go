package report

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ds2/internal/conclude"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// Experiment is the record of an experiment and what its configurations come to.
type Experiment struct {
	result.Experiment
	Comparison Comparison           `json:"comparison"` // of those that have a run that counts
	Pairs      []measure.Difference `json:"pairs"`      // of OPM between every two, by blocks
	Benches    []Configuration      `json:"-"`          // all that were begun
	name       string
}

// ReadExperiment reads the experiment in a directory, and compares its configurations. The error is
// result.ErrNoExperiment where there is none.
func ReadExperiment(read conclude.Reader, dir string) (e Experiment, err error) {
	e.name = filepath.Base(filepath.Clean(dir))
	if e.Experiment, err = result.ReadExperiment(dir); err != nil {
		return e, err
	}
	var some []Configuration
	var names []string
	var figures []measure.RunFigure
	looks := 1.
	for _, c := range e.Configurations {
		b, err := read.Bench(filepath.Join(dir, c.Dir))
		if errors.Is(err, result.ErrNoBench) { // it has not begun
			continue
		}
		if err != nil {
			return e, err
		}
		one := Configuration{Name: c.Name, Dir: filepath.Join(dir, c.Dir), Bench: b, read: read}
		e.Benches = append(e.Benches, one)
		if b.Figure != nil {
			some = append(some, one)
			names = append(names, c.Name)
			looks = measure.Looks(b.Until > 0, len(b.Looks))
			figures = append(figures, valuesOf(one, func(r result.BenchRun) *float64 { return r.Value() }).figures()...)
		}
	}
	e.Comparison = Comparison{Configurations: []Configuration{}, Differences: []Difference{}}
	if len(some) > 0 {
		e.Comparison = Compare(some)
	}
	e.Comparison.Warnings = append(e.Comparison.Warnings, e.leftOut()...)
	e.Pairs = []measure.Difference{}
	if e.Order == result.OrderRandom {
		e.Pairs = append(e.Pairs, measure.Differences(names, figures, looks)...)
	}
	return e, nil
}

// leftOut says which configurations were left out, and why.
func (e Experiment) leftOut() (sentences []string) {
	for _, c := range e.Benches {
		if c.Status == result.Failed {
			sentences = append(sentences, fmt.Sprintf("configuration %s was left out after %d runs that count: %s", c.Name, len(conclude.Counted(c.Bench)), c.Error))
		}
	}
	return sentences
}

// ExperimentHTML writes the page of an experiment: its result, and each configuration's bench.
func ExperimentHTML(w io.Writer, e Experiment) error {
	views := e.views()
	var err error
	if views[0].Charts, err = overlays(e.Comparison, "the run that stands for each configuration"); err != nil {
		return err
	}
	return writePage(w, "ds2 experiment "+e.name, views)
}

// ExperimentText writes an experiment for reading on a terminal: the page without its charts.
func ExperimentText(w io.Writer, e Experiment) error { return writeText(w, e.views()...) }

// ExperimentMarkdown writes an experiment for a pull request or a wiki.
func ExperimentMarkdown(w io.Writer, e Experiment) error { return writeMarkdown(w, e.views()...) }

// views are the comparison, with what makes it an experiment, and the benches.
func (e Experiment) views() []runView {
	v := runView{ID: "compare", RunID: e.name}
	if len(e.Comparison.Configurations) > 0 {
		v = compareView(e.Comparison)
	} else {
		for _, warning := range e.Comparison.Warnings {
			v.Notes = append(v.Notes, sentence("Warning: "+warning))
		}
	}
	v.Title, v.RunID = fmt.Sprintf("Experiment %s", e.name), e.name
	if len(e.Comparison.Configurations) < 2 {
		v.Headline = "nothing to compare"
	}
	v.Byline = byline(e.Start, "experiment "+e.ExperimentID, e.KitVersion, "")
	v.Notes = append([]string{e.how()}, v.Notes...)
	v.Good = v.Good && e.Status == result.Done
	v.Tables = slices.Insert(v.Tables, min(1, len(v.Tables)), e.pairTable())
	v.Tables = append(v.Tables, e.settingTable(), e.orderTable())
	views := []runView{v}
	for i, c := range e.Benches {
		bench := benchView(c)
		bench.ID, bench.RunID = fmt.Sprintf("bench%d", i+1), c.Name
		bench.Title = fmt.Sprintf("Configuration %s: %s, size %s, %s", c.Name, c.Setup.Engine, c.Setup.Size, users(c.Setup.Threads))
		bench.Notes = slices.DeleteFunc(bench.Notes, func(note string) bool { return slices.Contains(v.Notes, note) })
		views = append(views, bench)
	}
	return views
}

// how says how the experiment was made, and why it ended.
func (e Experiment) how() string {
	blocks := 0
	for _, c := range e.Benches {
		blocks = max(blocks, len(conclude.Counted(c.Bench)))
	}
	if e.Order == result.OrderSequence {
		return fmt.Sprintf("%d configurations were run one after the other, %d runs of each; the experiment is recorded as %s.", len(e.Configurations), e.Most, e.Status)
	}
	text := fmt.Sprintf("%d configurations took turns in %d of at most %d blocks, in a random order of seed %d", len(e.Configurations), blocks, e.Most, e.Seed)
	switch {
	case e.Status != result.Done:
		return fmt.Sprintf("%s; the experiment is not done: it is recorded as %s.", text, e.Status)
	case e.Until > 0 && blocks < e.Most:
		text += fmt.Sprintf("; then the interval of every difference in %s was within %g %%; a scatter that is small by chance ends an experiment too, so that such an interval holds the truth in 96 %% of cases where runs scatter half as much as that, in 92 %% where as much, and in 76 %% where half as much again", e.unit(), e.Until)
	case e.Until > 0:
		within := !slices.ContainsFunc(e.Pairs, func(d measure.Difference) bool { return !d.Change.Within(e.Until) })
		if within {
			text += fmt.Sprintf("; the interval of every difference in %s is within %g %%", e.unit(), e.Until)
		} else {
			text += fmt.Sprintf("; not every interval of a difference in %s is within the %g %% that were asked for", e.unit(), e.Until)
		}
	}
	if looks := e.looks(); len(looks) > 1 {
		text += fmt.Sprintf("; its result was looked at after %s blocks, for which all intervals are widened", listed(looks))
	}
	return text + "."
}

// looks are after how many blocks the result was looked at.
func (e Experiment) looks() (all []int) {
	for _, c := range e.Benches {
		if len(c.Looks) > len(all) {
			all = c.Looks
		}
	}
	return all
}

// listed is numbers in words: 6, 9 and 12.
func listed(numbers []int) string {
	last := len(numbers) - 1
	text := ""
	for i, n := range numbers {
		switch {
		case i > 0 && i == last:
			text += " and "
		case i > 0:
			text += ", "
		}
		text += fmt.Sprint(n)
	}
	return text
}

// unit is that of the figure by which the runs are compared.
func (e Experiment) unit() string {
	if len(e.Benches) == 0 {
		return result.OPM
	}
	return e.Benches[0].Unit()
}

// pairTable is the difference in OPM between every two configurations; those from the first alone are in the other table.
func (e Experiment) pairTable() table {
	t := table{Caption: "Differences in " + e.unit() + " between every two configurations, paired by blocks", Head: []string{"configuration", "against", "difference", "95 % confidence", "p", "blocks", "significant"}}
	if len(e.Pairs) < 2 {
		return t
	}
	for _, p := range e.Pairs {
		low, high := p.Change.Low, p.Change.High
		d := Difference{}
		row := []string{p.Other, p.Base, "", "", "", fmt.Sprint(p.Blocks), p.Why}
		if p.Why == "" {
			d.Low, d.High = &low, &high
			significance := "no"
			if p.Change.Significant() {
				significance = "yes"
			}
			row[3], row[4], row[6] = d.percent(low)+" to "+d.percent(high), fmt.Sprintf("%.2g", p.Change.P), significance
		}
		if p.Blocks > 0 {
			row[2] = d.percent(p.Change.Percent)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// settingTable is in what the configurations differ.
func (e Experiment) settingTable() table {
	t := table{Caption: "Configurations", Head: []string{"configuration"}, Words: true}
	columns := map[string]int{}
	column := func(name string) int {
		if _, known := columns[name]; !known {
			columns[name] = len(t.Head)
			t.Head = append(t.Head, name)
		}
		return columns[name]
	}
	for _, c := range e.Configurations {
		for _, name := range slices.Sorted(maps.Keys(c.Labels)) {
			column(name)
		}
		for _, s := range c.Settings {
			column("--" + s.Flag)
		}
	}
	column("targets")
	for _, c := range e.Configurations {
		row := make([]string, len(t.Head))
		row[0] = c.Name
		for name, value := range c.Labels {
			row[column(name)] = value
		}
		for _, s := range c.Settings {
			row[column("--"+s.Flag)] = s.Value
		}
		for _, b := range e.Benches {
			if b.Name == c.Name {
				row[column("targets")] = strings.Join(b.Setup.Targets, ", ")
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// orderTable is all runs in the order in which they were made.
func (e Experiment) orderTable() table {
	t := table{Caption: "Runs in the order in which they were made", Head: []string{"number", "block", "configuration", "run", e.unit(), "± 95 % within the run", "bottleneck", "counts"}}
	if e.Order == result.OrderSequence {
		return t
	}
	type numbered struct {
		number int
		row    []string
	}
	var all []numbered
	for _, c := range e.Benches {
		for _, r := range c.Runs {
			counts := "yes"
			if !r.Counts {
				counts = "no: " + string(r.Status)
			}
			all = append(all, numbered{r.Number, []string{fmt.Sprint(r.Number), fmt.Sprint(r.Block), c.Name, r.Dir, ofRun(r), uncertainty(r.CI95()), r.Bottleneck, counts}})
		}
	}
	slices.SortStableFunc(all, func(a, b numbered) int { return a.number - b.number })
	for _, n := range all {
		t.Rows = append(t.Rows, n.row)
	}
	return t.trimmed()
}

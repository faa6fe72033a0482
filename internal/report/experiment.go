package report

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ds2/internal/compare"
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

// NewExperiment reads the benches of the experiment in a directory, and compares its configurations.
func NewExperiment(read conclude.Reader, dir string, record result.Experiment) (Experiment, error) {
	e := Experiment{Experiment: record, name: filepath.Base(filepath.Clean(dir))}
	var some []Configuration
	var names []string
	var figures []measure.RunFigure
	looks := 1.
	for _, c := range e.Configurations {
		b, err := compare.ReadBench(read, filepath.Join(dir, c.Dir))
		if errors.Is(err, result.ErrNone) { // it has not begun
			continue
		}
		if err != nil {
			return e, err
		}
		var labels []string
		for _, name := range slices.Sorted(maps.Keys(c.Labels)) {
			labels = append(labels, c.Labels[name])
		}
		one := Configuration{Name: c.Name, Dir: filepath.Join(dir, c.Dir), Bench: b, Read: read}
		one.Labels = strings.Join(labels, ", ")
		e.Benches = append(e.Benches, one)
		if b.Figure != nil {
			some = append(some, one)
			looks = max(looks, looksOf(b))
			if all := valuesOf(one, result.BenchRun.Value); all.noRatio() == "" {
				names, figures = append(names, c.Name), append(figures, all.figures()...)
			}
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

func (e Experiment) leftOut() (sentences []string) {
	for _, c := range e.Benches {
		switch failed := compare.Wrong(c.Bench); {
		case c.Status == result.Failed:
			sentences = append(sentences, fmt.Sprintf("configuration %s was left out after %d runs that count: %s",
				c.Name, len(compare.Counted(c.Bench)), c.Error))
		case c.Figure == nil && len(failed) > 0:
			sentences = append(sentences, fmt.Sprintf("configuration %s has no result: %s", c.Name,
				strings.Join(failed, "; ")))
		}
	}
	return sentences
}

// Page is what there is to read of an experiment: its result, and each configuration's bench.
func (e Experiment) Page() Page {
	v := view{ID: "compare"}
	if len(e.Comparison.Configurations) > 0 {
		v = e.Comparison.view()
	} else {
		v.warn(e.Comparison.Warnings)
	}
	if len(e.Comparison.Configurations) < 2 {
		v.Headline = "nothing to compare"
	}
	v.Title, v.RunID = "Experiment "+e.name, e.name
	v.Byline = byline(e.Start, "experiment "+e.ExperimentID, e.KitVersion, "")
	if e.Status == result.Done {
		v.find(aside, e.how())
	} else {
		v.find(reservation, e.how())
	}
	v.Tables = append(v.Tables, e.pairTable(), e.settingTable(), disclosureTable(e.Benches))
	views := []view{v}
	for i, c := range e.Benches {
		bench := benchView(c)
		bench.ID, bench.RunID, bench.Part = fmt.Sprintf("bench%d", i+1), c.Name, true
		bench.Title = "Configuration " + c.title()
		bench.draw = nil // all runs are on the comparison's charts, and what was found of them is beside those
		told := func(f finding) bool { return slices.Contains(v.Findings, f) }
		bench.Findings = slices.DeleteFunc(bench.Findings, told)
		views = append(views, bench)
	}
	return Page{"ds2 experiment " + e.name, views}
}

// how says how the experiment was made, and why it ended.
func (e Experiment) how() string {
	blocks := 0
	for _, c := range e.Benches {
		blocks = max(blocks, len(compare.Counted(c.Bench)))
	}
	if e.Order == result.OrderSequence {
		return fmt.Sprintf("%d configurations were run one after the other, %d runs of each; "+
			"the experiment is recorded as %s.", len(e.Configurations), e.Most, e.Status)
	}
	text := fmt.Sprintf("%d configurations took turns in %d of at most %d blocks, in a random order of seed %d",
		len(e.Configurations), blocks, e.Most, e.Seed)
	add := func(format string, args ...any) { text += fmt.Sprintf("; "+format, args...) }
	far := func(d measure.Difference) bool { return !d.Change.Within(e.Until) }
	switch {
	case e.Status != result.Done:
		add("the experiment is not done: it is recorded as %s. Until it is, a difference is significant only at "+
			"p < 0.001, and its interval is as wide.", e.Status)
		return text
	case e.Until <= 0:
	case blocks < e.Most:
		add("then the interval of every difference in %s was within %g %%, as it also is if runs scatter "+
			"little by chance: fewer than 95 %% of such intervals hold the truth", e.unit(), e.Until)
	case slices.ContainsFunc(e.Pairs, far):
		add("not every interval of a difference in %s is within the %g %% that were asked for", e.unit(), e.Until)
	default:
		add("the interval of every difference in %s is within %g %%", e.unit(), e.Until)
	}
	early, late := e.looks()
	if len(early) > 0 {
		add("its result could be seen after %s blocks before they were done, "+
			"for which all intervals are a little wider", listed(early))
	}
	if len(late) > 0 {
		add("it was done after %s blocks and continued all the same: intervals are widened for that, "+
			"but of identical systems more than one in twenty is told apart so", listed(late))
	}
	return text + "."
}

// looks are after how many blocks the result could be seen, before the experiment was done and when it was.
func (e Experiment) looks() (early, late []int) {
	var all []measure.Look
	for _, c := range e.Benches {
		if len(c.Looks) > len(all) {
			all = c.Looks
		}
	}
	for _, l := range all {
		if l.Done {
			late = append(late, l.Blocks)
		} else {
			early = append(early, l.Blocks)
		}
	}
	return early, late
}

// listed is numbers in words: 6, 9 and 12.
func listed(numbers []int) string {
	texts := strings.Fields(strings.Trim(fmt.Sprint(numbers), "[]"))
	last := len(texts) - 1
	if last == 0 {
		return texts[0]
	}
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}

// unit is that of the figure by which the runs are compared.
func (e Experiment) unit() string {
	if len(e.Benches) == 0 {
		return result.OPM
	}
	return e.Benches[0].Unit()
}

// pairTable is the difference in OPM between every two configurations; those from the first alone are in the other
// table.
func (e Experiment) pairTable() table {
	t := newTable("Differences in "+e.unit()+" between every two configurations, paired by blocks",
		"configuration", "against", "difference", "95 % confidence", "p", "blocks", "significant")
	if len(e.Pairs) < 2 {
		return t
	}
	for _, p := range e.Pairs {
		c, d := p.Change, Difference{}
		percent, interval, chance, significant := "", "", "", p.Why
		if p.Why == "" {
			d.Low, d.High = &c.Low, &c.High
			interval, chance, significant = d.interval(), fmt.Sprintf("%.2g", c.P), "no"
			if c.Significant() {
				significant = "yes"
			}
		}
		if p.Blocks > 0 {
			percent = d.percent(c.Percent)
		}
		t.row(p.Other, p.Base, percent, interval, chance, fmt.Sprint(p.Blocks), significant)
	}
	return t
}

func (e Experiment) settingTable() table {
	var names []string
	for _, c := range e.Configurations {
		names = addNew(names, slices.Sorted(maps.Keys(c.Labels))...)
		for _, s := range c.Settings {
			names = addNew(names, "--"+s.Flag)
		}
	}
	names = addNew(names, "targets")
	t := newWords("Configurations", append([]string{"configuration"}, names...)...)
	for _, c := range e.Configurations {
		cells := maps.Clone(c.Labels)
		if cells == nil {
			cells = map[string]string{}
		}
		for _, s := range c.Settings {
			cells["--"+s.Flag] = s.Value
		}
		for _, b := range e.Benches {
			if b.Name == c.Name {
				cells["targets"] = strings.Join(b.Setup.Targets, ", ")
			}
		}
		row := []string{c.Name}
		for _, name := range names {
			row = append(row, cells[name])
		}
		t.row(row...)
	}
	return t
}

const notStated = "not stated"

// disclosureTable is what was stated of the configurations, and what was not; with prices, also their figures by them.
func disclosureTable(all []Configuration) table {
	t := newWords("Disclosure", "what")
	for _, key := range result.Disclosures {
		t.row(key)
	}
	perPrice := []string{"per 1,000 of the price's currency"}
	for _, c := range all {
		t.Head = append(t.Head, c.Name)
		stated, figure := c.Setup.Parameters.Disclosure, notStated
		for i, key := range result.Disclosures {
			t.Rows[i] = append(t.Rows[i], cmp.Or(stated[key], notStated))
		}
		if amount, currency, err := result.ParsePrice(stated[result.PriceKey]); err == nil && c.Figure != nil {
			figure = fmt.Sprintf("%s %s per 1,000 %s", opmOf(new(c.Figure.Value/amount*1000), nil), c.Unit(), currency)
		}
		perPrice = append(perPrice, figure)
	}
	t.Rows = append(t.Rows, perPrice)
	return t
}

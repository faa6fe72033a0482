package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ds2/internal/compare"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// Experiment is the page of an experiment: its result, and each configuration's bench.
func Experiment(e compare.Experiment) Page {
	v := view{ID: "compare"}
	if len(e.Comparison.Configurations) > 0 {
		v = comparison{e.Comparison}.view()
	} else {
		v.found(e.Comparison.Findings)
	}
	if len(e.Comparison.Configurations) < 2 {
		v.Headline = "nothing to compare"
	}
	v.Title = "Experiment " + e.Name
	if of := e.Comparison.Configurations; len(of) > 1 && len(of) <= mostColumns {
		v.Title += ": " + strings.Join(cells("", of, func(c compare.Configuration) string {
			return c.Name + strings.TrimPrefix(ofTargets(c.Spec), ",")
		})[1:], "; ")
	}
	v.RunID = e.Name
	v.Byline = byline(e.Start, "experiment "+e.ExperimentID, e.KitVersion, "")
	if e.Status == result.Done {
		v.note(how(e))
	} else {
		v.find(result.Reserves, "%s", how(e))
	}
	v.Tables = append(v.Tables, pairTable(e), settingTable(e), disclosureTable(e.Benches))
	views := []view{v}
	for i, c := range e.Benches {
		bench := benchView(c)
		bench.ID = fmt.Sprintf("bench%d", i+1)
		bench.RunID = c.Name
		bench.Part = true
		bench.Title = "Configuration " + title(c)
		// all runs are on the comparison's charts
		bench.draw = nil
		views = append(views, bench)
	}
	return Page{title: "ds2 experiment " + e.Name, views: views}
}

// how says how the experiment was made, and why it ended.
func how(e compare.Experiment) string {
	blocks := 0
	for _, c := range e.Benches {
		for _, r := range c.Runs {
			if compare.Made(r) {
				blocks = max(blocks, r.Block)
			}
		}
	}
	if e.Order == result.OrderSequence {
		return fmt.Sprintf("%d configurations were run one after the other, %d runs of each; "+
			"the experiment is recorded as %s.", len(e.Configurations), e.Most, e.Status)
	}
	text := fmt.Sprintf(
		"%d configurations took turns in %d of at most %d blocks, in a random order of seed %d",
		len(e.Configurations),
		blocks,
		e.Most,
		e.Seed,
	)
	add := func(format string, args ...any) { text += fmt.Sprintf("; "+format, args...) }
	far := func(d measure.Difference) bool { return !d.Change.Within(e.Until) }
	switch {
	case e.Status != result.Done:
		add(
			"the experiment is not done: it is recorded as %s. Until it is, intervals are of 99.9 %% "+
				"confidence, and p is raised alike, so that 0.05 stays its bound",
			e.Status,
		)
		return text
	case e.Until <= 0:
	case blocks < e.Most:
		add(
			"then the interval of every difference in %s was within %g %%, as it also is if runs vary "+
				"little by chance: fewer than 95 %% of such intervals contain the true value",
			e.Stated(),
			e.Until,
		)
	case slices.ContainsFunc(e.Pairs, far):
		add(
			"not every interval of a difference in %s is within the %g %% that were asked for",
			e.Stated(),
			e.Until,
		)
	default:
		add("the interval of every difference in %s is within %g %%", e.Stated(), e.Until)
	}
	early, late := e.Looks()
	if len(early) > 0 {
		add("its result could be seen after %s blocks before they were done, "+
			"for which all intervals are a little wider", listed(early))
	}
	if len(late) > 0 {
		add(
			"it was done after %s blocks and continued all the same: intervals are widened for that, "+
				"but of identical systems more than one in twenty pairs differ so",
			listed(late),
		)
	}
	return text + "."
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

// pairTable is the difference in OPM between every two configurations; those from the first alone
// are in the other table.
func pairTable(e compare.Experiment) table {
	t := newTable(
		"Differences in "+e.Stated()+" between every two configurations, paired by blocks",
		"configuration",
		"against",
		"difference",
		e.Comparison.Confidence()+" confidence",
		"p",
		"blocks",
		"significant",
	)
	if len(e.Pairs) < 2 {
		return t
	}
	for _, p := range e.Pairs {
		c := p.Change
		d := compare.Difference{}
		percent := ""
		interval := ""
		chance := ""
		significant := p.Why
		if p.Why == "" {
			d.Low = &c.Low
			d.High = &c.High
			interval = d.IntervalText()
			chance = fmt.Sprintf("%.2g", c.P)
			significant = "no"
			if c.Significant() {
				significant = "yes"
			}
		}
		if p.Blocks > 0 {
			percent = d.PercentText(c.Percent)
		}
		t.row(p.Other, p.Base, percent, interval, chance, fmt.Sprint(p.Blocks), significant)
	}
	return t
}

func settingTable(e compare.Experiment) table {
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
		values := maps.Collect(maps.All(c.Labels))
		for _, s := range c.Settings {
			values["--"+s.Flag] = s.Value
		}
		for _, b := range e.Benches {
			if b.Name == c.Name {
				values["targets"] = strings.Join(b.Targets, ", ")
			}
		}
		t.row(cells(c.Name, names, func(name string) string { return values[name] })...)
	}
	return t
}

const notStated = "not stated"

// disclosureTable is what was stated of the configurations, and what was not; with prices, also
// their figures by them.
func disclosureTable(all []compare.Configuration) table {
	t := newWords("Disclosure", cells("what", all, configurationName)...)
	for _, key := range result.Disclosures {
		t.row(cells(key, all, func(c compare.Configuration) string {
			return cmp.Or(c.Spec.Disclosure[key], notStated)
		})...)
	}
	t.row(cells("per 1,000 of the price's currency", all, func(c compare.Configuration) string {
		value, currency := c.PerPrice()
		if value == nil {
			return notStated
		}
		return fmt.Sprintf("%s %s per 1,000 %s", opmOf(value, nil), c.Unit(), currency)
	})...)
	return t
}

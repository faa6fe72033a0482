package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ds2/internal/compare"
	"ds2/internal/result"
)

// Experiment is the page of an experiment: its result, and each configuration's bench.
func Experiment(e compare.Experiment) Page {
	v := view{ID: "compare"}
	if len(e.Comparison.Configurations) > 0 {
		v = comparison{e.Comparison}.view()
	} else {
		v.addFindings(e.Comparison.Findings)
	}
	if len(e.Comparison.Configurations) < 2 {
		v.Headline = "nothing to compare"
	}
	v.Title = "Experiment " + e.Name
	if of := e.Comparison.Configurations; len(of) > 1 && len(of) <= mostColumns {
		v.Title += ": " + say("names and databases", of)
	}
	v.RunID = e.Name
	v.Byline = byline(e.Start, "experiment "+e.ExperimentID, e.KitVersion)
	if e.Status == result.Done {
		v.note(how(e))
	} else {
		v.addFinding(result.Reserves, "%s", how(e))
	}
	v.Tables = append(v.Tables, fill("pairs", e), settingTable(e), fill("disclosure", e.Benches))
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
	early, late := e.Looks()
	return say("how an experiment was made", struct {
		compare.Experiment
		Blocks      int
		Early, Late []int // the blocks after which its result could be seen
	}{e, blocks, early, late})
}

func settingTable(e compare.Experiment) table {
	var names []string
	for _, c := range e.Configurations {
		// Labels first, then settings: a column for each that any configuration has.
		names = addNew(names, slices.Sorted(maps.Keys(c.Labels))...)
		for _, s := range c.Settings {
			names = addNew(names, "--"+s.Flag)
		}
	}
	names = addNew(names, "targets")
	t := fill("configurations", names)
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

// figureByPrice is the figure that counts per 1,000 of what a configuration cost.
func figureByPrice(c compare.Configuration) string {
	value, currency := c.PerPrice()
	if value == nil {
		return notStated
	}
	return fmt.Sprintf("%s %s per 1,000 %s", opmOf(value, nil), c.Unit(), currency)
}

package report

import (
	"path/filepath"
	"slices"

	"ds2/internal/compare"
	"ds2/internal/result"
)

// Bench is the page of a bench: its result, its runs laid over each other, and the run that stands
// for it.
func Bench(c compare.Configuration) Page {
	p := Page{title: "ds2 bench " + c.Name, views: []view{benchView(c)}}
	p.views[0].Tables = append(p.views[0].Tables, fill("disclosure", []compare.Configuration{c}))
	if c.Median == "" {
		return p
	}
	median, err := c.Read.Run(filepath.Join(c.Dir, c.Median))
	if err != nil {
		p.views[0].addFinding(result.Reserves, "%v", err)
		return p
	}
	// The page of a bench ends with the whole report of its median run: what is the bench's is not
	// said of it a second time.
	median.Command = nil // the bench's
	run := runView(median, "run1")
	run.RunID = c.Median
	run.Part = true
	run.Title = "The run that stands for the configuration: " + run.Title
	p.views = append(p.views, run)
	return p
}

func benchView(c compare.Configuration) view {
	alone := comparison{compare.Comparison{Configurations: []compare.Configuration{c}}}
	v := view{
		ID: "bench", RunID: "bench", Headline: say("headline of a bench", c),
		Title:   "Bench " + title(c),
		Byline:  byline(c.Start, "bench "+c.RunID, c.KitVersion, c.Targets...),
		Figures: alone.figures(),
		Tables: []table{
			runTable(alone.Configurations, c.Median),
			fill("limits", c.Limits).dropEmptyColumns(),
			conditionTable(c),
			costTable(c),
			fill("command", c),
		},
		draw: func() ([]chart, error) { return alone.charts("bench", runsApart(c)) },
	}
	v.addFindings(compare.Findings(c.Bench))
	v.explainLimit(c)
	return v
}

// title says of a configuration what was tested: engine, size, users and databases.
func title(c compare.Configuration) string { return say("title of a configuration", c) }

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

// conditionTable is under which conditions each run that has a result was made.
func conditionTable(b compare.Configuration) table {
	b.Runs = slices.DeleteFunc(slices.Clone(b.Runs), func(r result.BenchRun) bool {
		return r.Practice || r.Figure == nil
	})
	if len(b.Runs) < 2 {
		b.Runs = nil
	}
	return fill("conditions", b)
}

// medianRun is the run that stands for a configuration, if one does.
func medianRun(c compare.Configuration) result.BenchRun {
	for _, r := range c.Runs {
		if r.Dir == c.Median {
			return r
		}
	}
	return result.BenchRun{}
}

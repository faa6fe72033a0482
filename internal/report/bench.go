package report

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"ds2/internal/limit"
	"ds2/internal/result"
)

// BenchHTML writes the page of one bench: its result, its runs laid over each other, and the run that stands for it.
func BenchHTML(w io.Writer, c Configuration) error {
	v := benchView(c)
	apart := Comparison{}
	for _, r := range counted(c.Bench) {
		apart.Configurations = append(apart.Configurations, Configuration{Name: r.Dir, Dir: c.Dir, Bench: result.Bench{Median: r.Dir}})
	}
	var err error
	if v.Charts, err = overlays(apart, "each run that counts"); err != nil {
		return err
	}
	views := []runView{v}
	if c.Median != "" {
		median, err := result.Read(filepath.Join(c.Dir, c.Median))
		if err != nil {
			return err
		}
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

// BenchText writes a bench for reading on a terminal: the page's part about all its runs, without the charts.
func BenchText(w io.Writer, c Configuration) error { return writeText(w, benchView(c)) }

// benchView is what a bench came to.
func benchView(c Configuration) runView {
	v := runView{
		ID: "bench", RunID: "bench",
		Title:    fmt.Sprintf("Bench %s: %s, size %s, %s", c.Name, c.Setup.Engine, c.Setup.Size, users(c.Setup.Threads)),
		Headline: "no result",
		Good:     c.Status == result.Done && !slices.ContainsFunc(counted(c.Bench), func(r result.BenchRun) bool { return len(r.Marks) > 0 }) && limit.Passed(c.Limits),
		Byline:   byline(c.Start, "bench "+c.BenchID, c.KitVersion, strings.Join(c.Setup.Targets, ", ")),
		Facts:    benchFacts(c.Bench),
		Tables:   []table{runTable(c.Bench), limitTable(c.Limits)},
		Notes:    benchNotes(c.Bench),
	}
	runs := counted(c.Bench)
	if c.OPM != nil {
		v.Headline = fmt.Sprintf("%s OPM, the median of %d", decimal(c.OPM, 1), len(runs))
	}
	if c.Status != result.Done {
		v.Notes = append(v.Notes, sentence(fmt.Sprintf("Warning: the bench ended early (%s): %d of %d runs count", c.Status, len(runs), c.Setup.Runs)))
	}
	for _, r := range c.Runs {
		if len(r.Marks) > 0 {
			v.Notes = append(v.Notes, sentence("Marked: "+markText(c.Name, r)))
		}
	}
	return v
}

// runTable is every run of a bench, also those that do not count.
func runTable(b result.Bench) table {
	t := table{Caption: "Runs", Head: []string{"run", "OPM", "± 95 %", "idle W", "active W", "bottleneck", "counts"}}
	for _, r := range b.Runs {
		counts := "no"
		switch {
		case r.Dir == b.Median:
			counts = "yes, the median"
		case r.Counts:
			counts = "yes"
		}
		t.Rows = append(t.Rows, []string{r.Dir, decimal(r.OPM, 1), decimal(r.CI95, 1), decimal(r.Idle, 1), decimal(r.Active, 1),
			r.Bottleneck, counts})
	}
	return t
}

// benchNotes says what the runs of a bench come to together.
func benchNotes(b result.Bench) (notes []string) {
	if b.RunsCI95 != nil {
		notes = append(notes, fmt.Sprintf("The runs come to %s ± %s OPM on average (95 %% confidence by Student's t); the best is %.1f %% of that above the worst.",
			decimal(b.RunsMean, 1), decimal(b.RunsCI95, 1), *b.RunsSpread))
	}
	if note := limitNote(b.Limits); note != "" {
		notes = append(notes, note)
	}
	return notes
}

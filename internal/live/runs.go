package live

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ds2/internal/report"
	"ds2/internal/result"
)

// RunRow is a run of an experiment, a bench or a search in the list of its page.
type RunRow struct {
	Run    string `json:"run"`
	Result string `json:"result"`
}

// RowsOf are the runs of an experiment's configurations, by their names, the newest first. A bench
// is an experiment of one without a name.
func RowsOf(configurations map[string]result.Bench) []RunRow {
	type namedRun struct {
		result.BenchRun
		name string
	}
	var runs []namedRun
	for _, name := range slices.Sorted(maps.Keys(configurations)) {
		for i, r := range configurations[name].Runs {
			r.Number = cmp.Or(r.Number, i)
			runs = append(runs, namedRun{r, name})
		}
	}
	slices.SortStableFunc(runs, func(a, b namedRun) int { return b.Number - a.Number })
	rows := make([]RunRow, len(runs))
	for i, r := range runs {
		rows[i] = RunRow{r.Dir, wordResult(r.BenchRun)}
		if r.name != "" {
			rows[i].Run = r.name + ", " + r.Dir
		}
		if r.Block > 0 {
			rows[i].Run = fmt.Sprintf("block %d, %s", r.Block, rows[i].Run)
		}
	}
	return rows
}

// wordResult says what a run came to, and why that is not in its configuration's mean.
func wordResult(r result.BenchRun) string {
	if r.Status == result.Running {
		return "running"
	}
	text := report.Headline(result.Summary{Conclusion: result.Conclusion{Headline: r.Headline}})
	switch {
	case r.Practice:
		text += ", practice"
	case !r.Counts:
		text += ", does not count"
	}
	return text
}

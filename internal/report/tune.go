package report

import (
	"fmt"
	"slices"
	"strings"

	"ds2/internal/conclude"
	"ds2/internal/limit"
	"ds2/internal/result"
	"ds2/internal/tune"
)

// TrialText is a trial of a search in one line.
func TrialText(t result.Trial) string { return say("trial", t) }

// Search is what there is to read of a search.
func Search(r result.Search) Page {
	return Page{title: "ds2 search " + r.RunID, views: []view{searchView(r)}}
}

func searchView(r result.Search) view {
	v := view{
		ID:       "search",
		RunID:    r.RunID,
		Headline: "no result",
		Byline:   byline(r.Start, "search "+r.RunID, r.KitVersion, strings.Join(r.Targets, ", ")),
		Title:    fmt.Sprintf("Search for the largest number of users: %s, size %s", r.Engine, r.Size),
		Figures:  nearTable(r),
		Tables: []table{
			fill("trials", r).trimmed(),
			fill("limits", r.Verdicts).trimmed(),
			fill("setup of a search", r),
			fill("command", r),
		},
		draw: func() ([]chart, error) { return searchCharts(r), nil },
	}
	if r.Users > 0 {
		most := users(r.Users)
		v.Headline = fmt.Sprintf("%s %s with %s", opmOf(r.Value(), nil), r.Unit(), most)
		v.note(say("proof", r))
		v.addFinding(result.Informs, "Median of the %d runs that confirm %s; %s",
			len(result.Confirming(r.Trials, r.Users)), most, r.Why)
		if t, found := tune.Higher(r.Trials, r.Users, *r.Value()); found {
			v.addFinding(
				result.Reserves,
				"%s had %s %s, more than the result: the trials were not of one state of the store; "+
					"take longer runs",
				capital(users(t.Threads)),
				opmOf(&t.Value, nil),
				r.Unit(),
			)
		}
	} else {
		v.addFinding(result.Withholds, "%s", r.Why)
	}
	if r.Status != result.Done && r.Status != "" {
		v.addFinding(result.Reserves,
			"The search is recorded as %s after %d trials; the same command with --out continues it",
			r.Status, len(r.Trials))
	}
	for _, t := range r.Trials {
		if t.Error != "" {
			v.addFinding(result.Reserves, "The run with %s in %s failed: %s", users(t.Threads),
				t.Record, t.Error)
		}
	}
	v.addFindings(conclude.FindLimits(r.Verdicts))
	return v
}

func searchCharts(r result.Search) (all []chart) {
	if len(r.Trials) == 0 {
		return nil
	}
	cycle := limit.Metric{Subject: r.Words.Cycle, Stat: "p95"}
	all = []chart{
		trialChart(r, "opm", r.Unit()+" over users", r.Unit(),
			limit.Metric{Subject: strings.ToLower(r.Unit())},
			func(t result.Trial) float64 { return t.Value }),
		trialChart(r, "p95", "Response time of "+r.Words.Cycles+" over users, 95th percentile",
			"ms", cycle, func(t result.Trial) float64 { return 1000 * t.P95 }),
		trialChart(r, "strain", "How near the trials came to the tightest limit", "%",
			limit.Metric{}, func(t result.Trial) float64 { return 100 * t.Strain }),
	}
	all[0].Place = picture
	all[2].Levels = []mark{{"limit", 100}}
	return all
}

// nearTable are the trials next to the result.
func nearTable(r result.Search) table {
	trials := tune.ByUsers(r.Trials)
	// Those just below and above the result show where the limits began to fail.
	near := max(0, slices.IndexFunc(trials, func(t result.Trial) bool {
		return t.Threads == r.Users
	}))
	from := max(0, min(near-1, len(trials)-mostFigures))
	r.Trials = trials[from:min(from+mostFigures, len(trials))]
	return fill("trials beside the result", r)
}

func trialVerdict(t result.Trial) string {
	if t.Error != "" {
		return "failed"
	}
	return limitWord(result.Verdict{OK: t.Passed, CannotTell: t.CannotTell})
}

// trialChart draws a figure of every trial over the number of users, and the limits of the figure's
// metric.
func trialChart(
	r result.Search, id, title, unit string, metric limit.Metric, of func(result.Trial) float64,
) chart {
	trials := tune.ByUsers(r.Trials)
	c := chart{ID: "search-" + id, Title: title, YName: unit, XName: "users"}
	c.Text = fmt.Sprintf("Every trial with %d to %s.", trials[0].Threads,
		users(trials[len(trials)-1].Threads))
	passed := line{Name: "trial", Dots: true}
	failed := line{Name: "trial whose limits fail", Dots: true, Hollow: true}
	for _, t := range trials {
		switch {
		case t.Error != "":
		case t.Passed:
			passed.add(float64(t.Threads), of(t))
		default:
			failed.add(float64(t.Threads), of(t))
		}
	}
	c.draw(withPoints(passed, failed)...)
	for _, text := range r.LimitTexts {
		// A limit is a level in the chart of the figure that it bounds, and in no other.
		if l, err := limit.Parse(text); err == nil && l.Metric == metric {
			bound := l.Bound
			// The chart is in ms, limits in seconds.
			if l.Unit() == result.UnitSeconds {
				bound *= 1000
			}
			c.Levels = append(c.Levels, mark{text, bound})
		}
	}
	if r.Users > 0 {
		c.Verticals = append(c.Verticals, mark{"result", float64(r.Users)})
	}
	return c
}

package report

import (
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
	v := view{
		ID:       "search",
		RunID:    r.RunID,
		Headline: say("headline of a search", r),
		Byline:   byline(r.Start, "search "+r.RunID, r.KitVersion, r.Targets...),
		Title:    say("title of a search", r),
		Figures:  nearTable(r),
		Tables: []table{
			fill("trials", r).dropEmptyColumns(),
			fill("limits", r.Verdicts).dropEmptyColumns(),
			fill("setup of a search", r),
			fill("command", r),
		},
		draw: func() ([]chart, error) { return searchCharts(r), nil },
	}
	if r.Users > 0 {
		v.note(say("proof", r))
		v.addFinding(result.Informs, "Median of the %d runs that confirm %s; %s",
			len(result.Confirming(r.Trials, r.Users)), users(r.Users), r.Why)
		if t, found := tune.Higher(r.Trials, r.Users, *r.Value()); found {
			t.Unit = r.Unit()
			v.addFinding(result.Reserves, "%s", say("better trial", t))
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
	return Page{title: "ds2 search " + r.RunID, views: []view{v}}
}

func searchCharts(r result.Search) (all []chart) {
	if len(r.Trials) == 0 {
		return nil
	}
	all = []chart{
		trialChart(r, "search-opm", limit.Metric{Subject: strings.ToLower(r.Unit())},
			func(t result.Trial) float64 { return t.Value }),
		trialChart(r, "search-p95", limit.Metric{Subject: r.Words.Cycle, Stat: "p95"},
			func(t result.Trial) float64 { return 1000 * t.P95 }),
		trialChart(r, "search-strain", limit.Metric{},
			func(t result.Trial) float64 { return 100 * t.Strain }),
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
	// One below the result, and the rest above it as far as there are any.
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
	r result.Search, id string, metric limit.Metric, of func(result.Trial) float64,
) chart {
	c := newChart(id, id, r, second) // its text goes by its name
	// Trials that failed a limit are rings: the curve bends where they begin.
	passed := line{Name: "trial", Dots: true}
	failed := line{Name: "trial whose limits fail", Dots: true, Hollow: true}
	for _, t := range tune.ByUsers(r.Trials) {
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

package report

import (
	"fmt"
	"strings"

	"ds2/internal/limit"
	"ds2/internal/result"
)

// TrialText is a trial of a search in one line.
func TrialText(t result.Trial) string {
	text := fmt.Sprintf("%s, %s %s, p95 %s ms", users(t.Threads), opmOf(&t.OPM, nil), t.Unit, figure(1000*t.P95))
	if t.Strain > 0 {
		text += fmt.Sprintf(", %.0f %% of the tightest limit", 100*t.Strain)
	}
	return text + ": " + strings.ToLower(verdictWord(t.Passed))
}

// Search is what there is to read of a search and, where there is one, of the run that is its result.
func Search(r result.Search, median *result.Record) Page {
	p := Page{"ds2 search " + r.RunID, []view{searchView(r)}}
	if median != nil {
		median.Command = nil // the search's
		run := runView(median, "run1")
		run.Part, run.Title = true, "The run that is the result: "+run.Title
		p.views = append(p.views, run)
	}
	return p
}

func searchView(r result.Search) view {
	v := view{
		ID: "search", RunID: r.RunID, Headline: "no result",
		Byline:  byline(r.Start, "search "+r.RunID, r.KitVersion, strings.Join(r.Targets, ", ")),
		Title:   fmt.Sprintf("Search for the best number of users: %s, size %s", r.Engine, r.Size),
		Figures: curveTable(r),
		Tables:  []table{trialTable(r), limitTable(r.Verdicts), searchSetup(r), commandTable(r.Command)},
		draw:    func() ([]chart, error) { return searchCharts(r), nil },
	}
	if r.Best != nil {
		best := users(r.Best.Threads)
		v.Headline = fmt.Sprintf("%s %s with %s", opmOf(&r.Figure.Value, r.Figure.CI95), r.Unit(), best)
		v.find(aside, proofNote(r.Engine, r.Parameters))
		v.findf(proof, "Median of the last runs with %s, made when they had been found; %s", best, r.Why)
		v.find(aside, r.Fit)
	} else {
		v.find(unknown, r.Why)
	}
	if r.Status != result.Done && r.Status != "" {
		v.findf(reservation, "The search is recorded as %s after %d trials; the same command with --out continues it",
			r.Status, len(r.Trials))
	}
	if r.Knee > 0 {
		v.because(fmt.Sprintf("Queueing sets in at about %s users, the knee of the curve.", number(r.Knee, 1)))
	}
	v.findLimits(r.Verdicts)
	return v
}

func searchCharts(r result.Search) (all []chart) {
	if len(r.Curve) == 0 {
		return nil
	}
	cycle := limit.Metric{Subject: r.Words.Cycle, Stat: "p95"}
	all = []chart{
		curveChart(r, "opm", r.Unit()+" over users", r.Unit(), limit.Metric{Subject: strings.ToLower(r.Unit())},
			func(t result.Trial) float64 { return t.OPM }),
		curveChart(r, "p95", "Response time of "+r.Words.Cycles+" over users, 95th percentile", "ms", cycle,
			func(t result.Trial) float64 { return 1000 * t.P95 }),
	}
	all[0].Place = picture
	if len(r.Limits) > 0 {
		strain := curveChart(r, "strain", "How near the trials came to the tightest limit", "%", limit.Metric{},
			func(t result.Trial) float64 { return 100 * t.Strain })
		strain.Levels = []height{{"limit", 100}}
		all = append(all, strain)
	}
	return all
}

// curveTable are the median trials next to the best.
func curveTable(r result.Search) table {
	t := newTable("", "users", r.Unit(), r.Words.Cycle+" p95 ms", "limits")
	near := 0
	for i, p := range r.Curve {
		if r.Best != nil && p.Threads == r.Best.Threads {
			near = i
		}
	}
	from := max(0, min(near-mostFigures/2, len(r.Curve)-mostFigures))
	for _, p := range r.Curve[from:min(from+mostFigures, len(r.Curve))] {
		m := p.Median()
		t.row(fmt.Sprint(p.Threads), opmOf(&m.OPM, nil), figure(1000*m.P95), verdictWord(p.Passed()))
	}
	return t
}

func trialTable(r result.Search) table {
	t := newTable("Trials",
		"users", r.Unit(), r.Words.Cycle+" p95 ms", "% of the tightest limit", "limits", "why", "record")
	for _, p := range r.Curve {
		for _, trial := range p.Trials {
			t.row(fmt.Sprint(p.Threads), opmOf(&trial.OPM, nil), figure(1000*trial.P95), number(100*trial.Strain, 0),
				verdictWord(trial.Passed), trial.Why, trial.Record)
		}
	}
	return t.trimmed()
}

// curveChart draws a figure over the number of users: every trial, the median, how far the trials of a number lie
// apart, and the limits of the figure's metric.
func curveChart(
	r result.Search, id, title, unit string, metric limit.Metric, of func(result.Trial) float64,
) chart {
	c := chart{ID: "search-" + id, Title: title, YName: unit, XName: "users"}
	c.Text = fmt.Sprintf("Every trial with %d to %s, the median and the range of those with one number; "+
		"queueing sets in at the knee.", r.Curve[0].Threads, users(r.Curve[len(r.Curve)-1].Threads))
	median, trials := line{Name: "median"}, line{Name: "trial", Dots: true}
	failed := line{Name: "trial whose limits fail", Dots: true, Hollow: true}
	ranges := line{Name: "range of the trials", Bars: true}
	for _, p := range r.Curve {
		x, y := float64(p.Threads), of(p.Median())
		median.add(x, y)
		low, high := y, y
		for _, t := range p.Trials {
			v := of(t)
			low, high = min(low, v), max(high, v)
			if t.Passed {
				trials.add(x, v)
			} else {
				failed.add(x, v)
			}
		}
		if len(p.Trials) > 1 {
			ranges.addBar(x, low, high)
		}
	}
	c.draw(withPoints(median, trials, failed, ranges)...)
	for _, text := range r.Limits {
		if l, err := limit.Parse(text); err == nil && l.Metric == metric {
			bound := l.Bound
			if l.Unit() == limit.Seconds {
				bound *= 1000
			}
			c.Levels = append(c.Levels, height{text, bound})
		}
	}
	if r.Knee > 0 {
		c.Verticals = append(c.Verticals, vertical{"knee", r.Knee})
	}
	if r.Best != nil {
		c.Verticals = append(c.Verticals, vertical{"result", float64(r.Best.Threads)})
	}
	return c
}

func searchSetup(r result.Search) table {
	t := setup("search", r.RunID, r.KitVersion, r.Start, r.End, engineOf(r.Engine, r.Parameters), r.Targets, r.Size)
	t.row("method", string(r.Method))
	t.row("first run", users(r.Config.Start))
	t.row("at most", users(r.Max))
	t.row("gain that more users have to bring", plain(100*r.Gain)+" %")
	t.row("database before each run", r.Restore)
	t.row("limits", strings.Join(r.Limits, ", "))
	return t
}

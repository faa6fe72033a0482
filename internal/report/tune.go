package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"ds2/internal/limit"
	"ds2/internal/result"
)

// TrialText is a trial of a search in one line.
func TrialText(t result.Trial) string {
	text := fmt.Sprintf("%s, %s %s, p95 %s ms", users(t.Threads), number(t.OPM, 0), t.Unit, figure(1000*t.P95))
	if t.Strain > 0 {
		text += fmt.Sprintf(", %.0f %% of the tightest limit", 100*t.Strain)
	}
	return text + ": " + strings.ToLower(verdictWord(t.Passed))
}

// TuneText writes a search for reading on a terminal.
func TuneText(w io.Writer, r result.Search) error {
	v := newTuneView(r)
	v.Title, v.Headline, v.Details = fmt.Sprintf("%s  search %s", v.Headline, r.RunID), "", []table{commandTable(r.Command)}
	return writeText(w, v)
}

// TuneHTML writes the page of a search and, where there is one, of the run that is its result.
func TuneHTML(w io.Writer, r result.Search, median *result.Record) error {
	runs := []runView{newTuneView(r)}
	if median != nil {
		median.Command = nil // the search's
		run, err := newRunView(median, "run1")
		if err != nil {
			return fmt.Errorf("report %s: %w", median.Dir, err)
		}
		run.Title = "The run that is the result: " + run.Title
		runs = append(runs, run)
	}
	return writePage(w, "ds2 search "+r.RunID, runs)
}

func newTuneView(r result.Search) runView {
	v := runView{
		ID: "search", RunID: r.RunID,
		Title:    fmt.Sprintf("Search for the best number of users: %s, size %s", r.Engine, r.Size),
		Headline: "no result",
		Good:     r.Best != nil,
		Tables:   []table{trialTable(r), limitTable(r.Verdicts)},
		Details:  []table{tuneSetupTable(r), commandTable(r.Command)},
	}
	switch {
	case r.Best != nil:
		v.Headline = fmt.Sprintf("%s %s with %s", number(r.Figure.Value, 1), r.Unit(), users(r.Best.Threads))
		v.Notes = append(v.Notes, proofNote(r.Engine, r.Parameters)...)
		v.Notes = append(v.Notes, fmt.Sprintf("Median of the last runs with %s, made when they had been found; %s.", users(r.Best.Threads), r.Why))
		if r.Fit != "" {
			v.Notes = append(v.Notes, sentence(r.Fit))
		}
	case r.Why != "":
		v.Notes = append(v.Notes, capital(r.Why)+".")
	}
	if r.Status != result.Done && r.Status != "" {
		v.Good = false
		v.Notes = append(v.Notes, fmt.Sprintf("The search is recorded as %s after %d trials; the same command with --out continues it.", r.Status, len(r.Trials)))
	}
	if r.Knee > 0 {
		v.Notes = append(v.Notes, fmt.Sprintf("Queueing sets in at about %s users, the knee of the curve.", number(r.Knee, 1)))
	}
	if note := limitNote(r.Verdicts); note != "" {
		v.Notes = append(v.Notes, note)
	}
	if words := r.Words; len(r.Curve) > 0 {
		v.Charts = []chart{
			curveChart(r, "opm", r.Unit()+" over users", r.Unit(), limit.Metric{Subject: strings.ToLower(r.Unit())}, func(t result.Trial) float64 { return t.OPM }),
			curveChart(r, "p95", "Response time of "+words.Cycles+" over users, 95th percentile", "ms", limit.Metric{Subject: words.Cycle, Stat: "p95"},
				func(t result.Trial) float64 { return 1000 * t.P95 }),
		}
		if len(r.Limits) > 0 {
			strain := curveChart(r, "strain", "How near the trials came to the tightest limit", "%", limit.Metric{}, func(t result.Trial) float64 { return 100 * t.Strain })
			strain.Levels = []level{{"limit", 100}}
			v.Charts = append(v.Charts, strain)
		}
	}
	return v
}

func trialTable(r result.Search) table {
	t := table{Caption: "Trials", Head: []string{"users", r.Unit(), r.Words.Cycle + " p95 ms", "% of the tightest limit", "limits", "why", "record"}}
	for _, p := range r.Curve {
		for _, trial := range p.Trials {
			t.Rows = append(t.Rows, []string{fmt.Sprint(p.Threads), number(trial.OPM, 1), figure(1000 * trial.P95),
				number(100*trial.Strain, 0), verdictWord(trial.Passed), trial.Why, trial.Record})
		}
	}
	return t.trimmed()
}

// curveChart draws a figure over the number of users: every trial, the median, how far the trials of a number lie apart, and the limits
// of the figure's metric.
func curveChart(r result.Search, id, title, unit string, metric limit.Metric, of func(result.Trial) float64) chart {
	c := chart{
		ID: "search-" + id, Title: title, YName: unit, XName: "users",
		Text: fmt.Sprintf("Every trial with %d to %s, the median and the range of those with one number; queueing sets in at the knee.",
			r.Curve[0].Threads, users(r.Curve[len(r.Curve)-1].Threads)),
		Figures: table{Caption: title, Head: []string{"users", "median " + unit, "limits"}},
	}
	median, trials, failed := line{Name: "median"}, line{Name: "trial", Dots: true}, line{Name: "trial whose limits fail", Dots: true, Hollow: true}
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
		c.Figures.Rows = append(c.Figures.Rows, []string{fmt.Sprint(p.Threads), number(y, 1), verdictWord(p.Passed())})
	}
	c.drawSome(median, trials, failed, ranges)
	for _, text := range r.Limits {
		if l, err := limit.Parse(text); err == nil && l.Metric == metric {
			bound := l.Bound
			if l.Unit() == limit.Seconds {
				bound *= 1000
			}
			c.Levels = append(c.Levels, level{text, bound})
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

// tuneSetupTable is all that is needed to repeat the search.
func tuneSetupTable(r result.Search) table {
	t := table{Caption: "Setup", Head: []string{"what", "value"}, Words: true}
	add := func(name, value string) { t.Rows = append(t.Rows, []string{name, value}) }
	add("search", r.RunID)
	add("kit version", r.KitVersion)
	add("started", r.Start.UTC().Format(time.DateTime)+" UTC")
	add("ended", r.End.UTC().Format(time.DateTime)+" UTC")
	add("engine", engineOf(r.Engine, r.Parameters))
	add("targets", strings.Join(r.Targets, ", "))
	add("size", r.Size)
	add("method", string(r.Method))
	add("first run", users(r.Config.Start))
	add("at most", users(r.Max))
	add("gain that more users have to bring", plain(100*r.Gain)+" %")
	add("database before each run", r.Restore)
	add("limits", strings.Join(r.Limits, ", "))
	return t
}

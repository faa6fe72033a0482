package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ds2/internal/compare"
	"ds2/internal/history"
	"ds2/internal/result"
)

// Histories is the page of the histories of several configurations.
func Histories(all []history.History) Page {
	p := Page{title: "ds2 history"}
	for i, h := range all {
		p.views = append(p.views, historyView(h, fmt.Sprintf("history%d", i+1)))
	}
	return p
}

func historyView(h history.History, id string) view {
	last := h.Days[len(h.Days)-1]
	last.Name = "History"
	v := view{
		ID: id, RunID: title(last.Configuration), Title: title(last.Configuration),
		Headline: say("headline of a history", h),
		Byline:   byline(time.Time{}, counted(len(h.Days), "record"), last.Version, last.Targets...),
		Figures:  dayTable(h),
		Tables:   []table{fill("records", h)},
		draw:     func() ([]chart, error) { return []chart{historyChart(h, id)}, nil },
	}
	v.addFindings(h.Findings, result.OtherHistory)
	return v
}

// dayTable has a row for each day, the last one first.
func dayTable(h history.History) table {
	t := fill("days", h)
	levels := map[string]string{}
	for _, c := range h.Changes {
		levels[c.Name] = "level " + c.PercentText(c.Percent)
	}
	// Who opens a history asks what the last night brought.
	for _, d := range slices.Backward(h.Days) {
		news := filled([]string{levels[d.Day], d.DiffersText()})
		if d.Why != "" {
			news = append(news, "does not count: "+d.Why)
		}
		t.row(d.Day, opmOf(d.Value, d.CI95), uncertainty(d.CI95), strings.Join(news, "; "))
	}
	return t.dropEmptyColumns()
}

// historyChart has a column for each day with its own interval, in another colour from each change
// on.
func historyChart(h history.History, id string) chart {
	var all []compare.Configuration
	for _, d := range h.Days {
		all = append(all, d.Configuration)
	}
	c := comparison{compare.Comparison{Configurations: all}}.barChart(id, h.Metric, all)
	c.Place = picture
	c.YName = cmp.Or(c.YName, all[0].Unit())
	c.XName = "day"
	c.Text = "A column is the median of a day, a dot a run of it; whiskers are the 95 % " +
		"confidence interval of the day. The colour changes where the level did."
	// Six colours are told apart; a seventh level has that of the first.
	level := 0
	for i := range c.Lines {
		l := &c.Lines[i]
		if !l.Wide {
			continue
		}
		for _, change := range h.Changes {
			if change.Name == l.Name {
				level++
			}
		}
		l.Hue = level % 6
		l.What = l.Name
		l.Name = "days"
		if level > 0 {
			l.Name = fmt.Sprintf("days since change %d", level)
		}
	}
	return c
}

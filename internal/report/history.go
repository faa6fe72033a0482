package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ds2/internal/compare"
	"ds2/internal/history"
	"ds2/internal/measure"
	"ds2/internal/numbers"
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
		Headline: historySentence(h),
		Byline: byline(time.Time{}, counted(len(h.Days), "record"), last.Version,
			strings.Join(last.Targets, ", ")),
		Figures: dayTable(h),
		Tables:  []table{recordTable(h)},
		draw:    func() ([]chart, error) { return []chart{historyChart(h, id)}, nil },
	}
	v.found(without(h.Findings, result.OtherHistory))
	v.findBelow(h.Findings, result.OtherHistory)
	return v
}

// historySentence is the last change of the level or that there is none, and what to expect.
func historySentence(h history.History) string {
	days := h.Counted()
	if len(days) < measure.FewestDays {
		return fmt.Sprintf("Cannot tell whether %s changed: %s", h.Figure,
			counted(len(days), "day"))
	}
	text := fmt.Sprintf("No change of %s in %d days, from %s to %s", h.Figure, len(days),
		days[0].Day, days[len(days)-1].Day)
	if n := len(h.Changes); n > 0 {
		c := h.Changes[n-1]
		text = fmt.Sprintf("%s changed %s in %d days, at last on %s by %s", h.Figure,
			counted(n, "time"), len(days), c.Name, c.PercentText(c.Percent))
	}
	if h.Low == nil {
		return text
	}
	width := *h.High - *h.Low
	return fmt.Sprintf("%s; 95 of 100 days like the last lie between %s and %s", text,
		numbers.Worth(*h.Low, width), numbers.Worth(*h.High, width))
}

// dayTable has a row for each day, the last one first.
func dayTable(h history.History) table {
	t := newWords("", "day", h.Figure, "± 95 %", "what is new")
	levels := map[string]string{}
	for _, c := range h.Changes {
		levels[c.Name] = "level " + c.PercentText(c.Percent)
	}
	for _, d := range slices.Backward(h.Days) {
		news := filled([]string{levels[d.Day], d.DiffersText()})
		if d.Why != "" {
			news = append(news, "does not count: "+d.Why)
		}
		t.row(d.Day, opmOf(d.Value, d.CI95), uncertainty(d.CI95), strings.Join(news, "; "))
	}
	return t.trimmed()
}

func recordTable(h history.History) table {
	t := newWords("Records", "day", "ds2", "record")
	for _, d := range h.Days {
		t.row(d.Day, d.Version, d.Path)
	}
	return t
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

package report

import (
	"bytes"
	"slices"
)

// LiveHTML is the page that shows what a command is at. It has no figures: its script asks for them
// at /live, on the server that the page came from, and the report's own draws them.
func LiveHTML() ([]byte, error) {
	var b bytes.Buffer
	// The page is served whole and asks no other host for anything, as machines under test often
	// have no way out.
	parts := map[string]any{"CSS": pageCSS, "JS": pageJS, "LiveJS": liveJS, "ECharts": echartsJS}
	err := pages.ExecuteTemplate(&b, "live.html", parts)
	return b.Bytes(), err
}

// LiveChart is a chart of the live page: each of its lines gets a value a second.
type LiveChart = chart

// NewLiveChart makes a chart of seconds since the first orders.
func NewLiveChart(id, title, text, unit string, logarithmic bool, lines ...string) LiveChart {
	c := LiveChart{ID: id, Title: title, Text: text, YName: unit, Log: logarithmic}
	for _, name := range lines {
		c.draw(line{Name: name})
	}
	return c
}

// liveCounters are the charts of counters that the live page has too.
var liveCounters = []string{"requests", "drives", "busy", "processors"}

// LiveCounterCharts are the charts of the machine's columns, and the columns of their lines one
// after the other. Most is how many random reads a second the drives can do by themselves; 0: not
// measured.
func LiveCounterCharts(columns []string, most float64) (charts []LiveChart, lines []CounterLine) {
	for _, spec := range counterCharts {
		if !slices.Contains(liveCounters, spec.ID) {
			continue
		}
		c, shown := spec.drawColumns("live", columns)
		if spec.ID == "requests" && most > 0 {
			c.Levels = []mark{{"random reads that the drives can do", most}}
		}
		charts = append(charts, drawn(c)...)
		lines = append(lines, shown...)
	}
	return charts, lines
}

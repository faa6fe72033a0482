// Package report turns records of runs into something to read: a page of HTML, text, JSON and CSV. It reads records,
// never live state. The figures of a run are its record's; what several runs come to when they are compared, and the
// averages of counters over a window, are computed here.
//
// The page is one file that needs no network. Its charts are drawn by Apache ECharts, which the page brings along:
// kept up by the Apache Software Foundation under this project's own licence, drawn as SVG (so they print well and
// follow the reader's light or dark colours), and described to screen readers. Every chart stands above a table of its
// figures, which is there without scripts too.
package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"ds2/internal/result"
)

//go:embed page/page.html
var pageHTML string

//go:embed page/page.css
var pageCSS template.CSS

//go:embed page/page.js
var pageJS template.JS

// echartsJS is dist/echarts.common.min.js of the npm package echarts 6.1.0, unchanged.
//
//go:embed page/echarts.common.min.js
var echartsJS template.JS

var page = template.Must(template.New("page").Parse(pageHTML))

// HTML writes the page of one or several records.
func HTML(w io.Writer, records []*result.Record) error {
	runs := make([]runView, len(records))
	for i, r := range records {
		var err error
		if runs[i], err = newRunView(r, fmt.Sprintf("run%d", i+1)); err != nil {
			return fmt.Errorf("report %s: %w", r.Dir, err)
		}
	}
	return writePage(w, title(records), runs)
}

func writePage(w io.Writer, title string, runs []runView) error {
	for i := range runs {
		runs[i] = runs[i].cleaned()
	}
	err := page.Execute(w, map[string]any{
		"Title":   clean(title),
		"Runs":    runs,
		"CSS":     pageCSS,
		"JS":      pageJS,
		"ECharts": echartsJS,
	})
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func title(records []*result.Record) string {
	if len(records) == 1 {
		return "ds2 run " + records[0].RunID
	}
	return fmt.Sprintf("%d ds2 runs", len(records))
}

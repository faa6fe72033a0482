// Package report turns records of runs into something to read: a page of HTML, text, JSON and CSV.
// It reads records, never live state. It computes no figures: those of a run are its record's
// (package conclude), and what several runs come to is package compare's.
//
// What is shown of any record is a view: a sentence, how far it can be trusted, one picture, five
// figures and why; the rest is there for those who ask. The page is one file that needs no network.
// Its charts are drawn by Apache ECharts, which the page brings along: kept up by the Apache
// Software Foundation under this project's own licence, drawn as SVG (so they print well and follow
// the reader's light or dark colours), and described to screen readers. Every chart stands above a
// table of its figures, which is there without scripts too.
package report

import (
	"cmp"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"ds2/internal/result"
)

var (
	//go:embed page/*.html
	pageHTML embed.FS
	//go:embed page/page.css
	pageCSS template.CSS
	//go:embed page/page.js
	pageJS template.JS
	//go:embed page/live.js
	liveJS template.JS
	//go:embed page/echarts.common.min.js
	echartsJS template.JS // dist/echarts.common.min.js of the npm package echarts 6.1.0, unchanged

	pages = template.Must(template.ParseFS(pageHTML, "page/*.html"))
)

// Page is what there is to read of records.
type Page struct {
	title     string
	views     []view
	downloads []download
}

// download is a file that the page brings along.
type download struct {
	Name, Size string
	Content    template.URL
}

// MostEmbedded is how many bytes a page brings along at most.
const MostEmbedded = 8 << 20

// Embed has the page offer the archive of its record to its readers.
func (p *Page) Embed(name string, archive []byte) {
	p.downloads = append(p.downloads, download{
		clean(name), megabytes(int64(len(archive))) + " MB",
		template.URL("data:application/zip;base64," + base64.StdEncoding.EncodeToString(archive)),
	})
}

// Sentence is the result, as the page begins with it.
func (p Page) Sentence() string { return p.views[0].Headline }

// Runs is the page of one or several records.
func Runs(records ...*result.Record) Page {
	p := Page{title: fmt.Sprintf("%d ds2 runs", len(records))}
	if len(records) == 1 {
		p.title = "ds2 run " + records[0].RunID
	}
	for i, r := range records {
		v := runView(r, fmt.Sprintf("run%d", i+1))
		v.Tables = append(v.Tables, fill("disclosure", compareAlone(r.Summary).Configurations))
		again := func(other *result.Record) bool { return other != r && other.RunID == r.RunID }
		if slices.ContainsFunc(records, again) {
			v.RunID = cmp.Or(r.Dir, v.RunID)
		}
		p.views = append(p.views, v)
	}
	return p
}

// HTML writes the page for a browser.
func (p Page) HTML(w io.Writer) error {
	for i := range p.views {
		if err := p.views[i].show(); err != nil {
			return err
		}
	}
	// A bench and the run that stands for it are one result, which needs no list of links.
	several := len(p.views) > 1 && !p.views[1].Part
	err := pages.ExecuteTemplate(w, "page.html", map[string]any{
		"Title": clean(p.title), "Views": p.views, "Several": several, "Downloads": p.downloads,
		"CSS": pageCSS, "JS": pageJS, "ECharts": echartsJS,
	})
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// First is the first screen of the page as a part of another.
func (p Page) First() (string, error) {
	v := p.views[0]
	if err := v.show(); err != nil {
		return "", err
	}
	var b strings.Builder
	err := pages.ExecuteTemplate(&b, "first", v)
	return b.String(), err
}

// show draws the charts of a view.
func (v *view) show() (err error) {
	// A view may be shown twice, as a page and as its first screen in another; it is drawn once.
	if v.draw != nil && v.Charts == nil {
		if v.Charts, err = v.draw(); err != nil {
			return fmt.Errorf("report %s: %w", v.RunID, err)
		}
	}
	*v = cleaned(*v)
	return nil
}

// Text writes the page for a terminal, without its charts: what is first, or with the details all
// of it.
func (p Page) Text(w io.Writer, details bool, columns int) error {
	var lines []string
	for i, v := range p.views {
		if v.Part && !details {
			continue
		}
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, cleaned(v).text(details, columns)...)
	}
	return writeLines(w, lines)
}

// writeLines writes the lines of a text.
func writeLines(w io.Writer, lines []string) error {
	if _, err := fmt.Fprintln(w, strings.Join(lines, "\n")); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

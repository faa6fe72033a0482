package report

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// view is a record, or what several come to, as it is shown.
type view struct {
	ID       string // of its part of the page
	RunID    string // or what else links to it are to say
	Title    string
	Headline string // the result in a sentence
	Byline   string // when, and with what
	Part     bool   // of the view before it: only for those who ask

	findings []finding
	Figures  table
	Why      []string
	Tables   []table // for those who ask

	draw   func() ([]chart, error)
	Charts []chart
}

// finding is a sentence about a result, and what it means for that.
type finding struct {
	level level
	text  string
}

// level is how far a result can be trusted.
type level int

const (
	aside       level = iota // says nothing about that
	proof                    // speaks for the result
	reservation              // the result stands, but
	unknown                  // it does not tell what was asked
	failure                  // of a limit, of the audit, of the run
)

// Light is how far the result can be trusted, by the worst that was found.
func (v view) Light() level {
	worst := aside
	for _, f := range v.findings {
		worst = max(worst, f.level)
	}
	return worst
}

// Class is a level to the style sheet.
func (l level) Class() string { return [...]string{"", "good", "careful", "unknown", "bad"}[l] }

// String is a level in words; empty where nothing was found.
func (l level) String() string {
	return [...]string{"", "Trustworthy", "With reservations", "Cannot tell", "FAILED"}[l]
}

// mostReasons is how many findings stand beside the light.
const mostReasons = 3

// Reasons are the worst findings, and then what speaks for the result: as many as a first screen takes.
func (v view) Reasons() []string {
	all := v.reasons()
	return all[:min(mostReasons, len(all))]
}

func (v view) reasons() (texts []string) {
	all := slices.DeleteFunc(slices.Clone(v.findings), func(f finding) bool { return f.level == aside })
	slices.SortStableFunc(all, func(a, b finding) int { return cmp.Compare(b.level, a.level) })
	for _, f := range all {
		texts = append(texts, f.text)
	}
	return texts
}

// warnings are how many findings speak against the result.
func (v view) warnings() (n int) {
	for _, f := range v.findings {
		if f.level > proof {
			n++
		}
	}
	return n
}

// Notes are all findings.
func (v view) Notes() (texts []string) {
	for _, f := range v.findings {
		texts = append(texts, f.text)
	}
	return texts
}

// find adds a finding; none where the text is empty.
func (v *view) find(l level, text string) {
	if text != "" {
		v.findings = append(v.findings, finding{l, capital(sentence(text))})
	}
}

// place says where a chart stands on the page.
type place int

const (
	second place = iota // below the first screen
	picture
	small // beside the picture
	folded
)

// First and the others are the charts of a place.
func (v view) First() []chart  { return v.at(picture) }
func (v view) Small() []chart  { return v.at(small) }
func (v view) Second() []chart { return v.at(second) }
func (v view) Folded() []chart { return v.at(folded) }

func (v view) at(p place) []chart {
	return slices.DeleteFunc(slices.Clone(v.Charts), func(c chart) bool { return c.Place != p })
}

// byline says when and with what a result came about; what is not known is left out.
func byline(start time.Time, run, kit, where string) string {
	parts := []string{start.UTC().Format("2006-01-02 15:04 UTC"), run}
	if kit != "" {
		parts = append(parts, "ds2 "+kit, "method of that version")
	}
	if where != "" {
		parts = append(parts, where)
	}
	return strings.Join(parts, " · ")
}

// textWidth is how wide the first part of a text is at most, so that it fits a terminal.
const textWidth = 100

func (v view) text(b *bufio.Writer, details bool) {
	fmt.Fprintln(b, wrapped(v.Title, 0))
	if v.Headline != "" {
		fmt.Fprintln(b, wrapped(v.Headline, 0))
	}
	if l := v.Light(); l > aside {
		fmt.Fprintf(b, "%s\n", l)
		all := v.reasons()
		for _, reason := range all[:min(max(mostReasons, v.warnings()), len(all))] { // a text leaves no warning out
			fmt.Fprintln(b, wrapped("- "+reason, 2))
		}
	}
	if len(v.Figures.Rows) > 0 {
		fmt.Fprint(b, "\n", v.Figures.within(textWidth).text())
	}
	if len(v.Why) > 0 {
		fmt.Fprintln(b)
	}
	for _, why := range v.Why {
		fmt.Fprintln(b, wrapped(why, 2))
	}
	if !details {
		return
	}
	if len(v.findings) > 0 {
		fmt.Fprintln(b)
	}
	for _, note := range v.Notes() {
		fmt.Fprintln(b, note)
	}
	for _, t := range v.Tables {
		if len(t.Rows) > 0 && !t.Long {
			fmt.Fprint(b, "\n", t.text())
		}
	}
}

// wrapped breaks a text into lines of at most textWidth, all but the first indented.
func wrapped(text string, indent int) string {
	var b strings.Builder
	used := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n > textWidth:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = indent
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}

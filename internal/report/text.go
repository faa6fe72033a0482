package report

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The first part of a text is a screen of a terminal at most.
const (
	textWidth   = 100 // where it goes to no terminal
	textLines   = 40
	textRows    = 14 // of its table
	mostOfAText = 3  // lines of a sentence
)

// text writes a view for a terminal of so many columns; 0: for none, whose details are not broken into lines.
func (v view) text(b *bufio.Writer, details bool, columns int) {
	if !details {
		for _, line := range v.screen(cmp.Or(columns, textWidth)) {
			fmt.Fprintln(b, line)
		}
		return
	}
	all := slices.Concat([]string{v.Title, v.Headline, v.Light().String()}, v.reasons(aside), v.Why)
	for _, text := range slices.DeleteFunc(all, func(text string) bool { return text == "" }) {
		if columns > 0 {
			text = strings.Join(wrapped(text, 0, columns), "\n")
		}
		fmt.Fprintln(b, text)
	}
	for _, t := range append([]table{v.Figures}, v.Tables...) {
		if len(t.Rows) > 0 && !t.Long {
			fmt.Fprint(b, "\n", t.text())
		}
	}
}

// screen is what is first of a view. Of what does not fit it says how much there is.
func (v view) screen(width int) []string {
	lines := append(shortened(v.Title, 0, width), shortened(v.Headline, 0, width)...)
	if l := v.Light(); l > aside {
		lines = append(lines, l.String())
	}
	var figures, why []string
	if len(v.Figures.Rows) > 0 {
		figures = append(figures, "")
		for line := range strings.Lines(v.Figures.within(width, textRows).text()) {
			figures = append(figures, strings.TrimRight(line, "\n"))
		}
	}
	left := textLines - len(lines) - len(figures)
	if len(v.Why) > 0 {
		why = append(why, "")
		why = append(why, fitting(v.Why, left/2-1, width)...)
	}
	reasons := v.reasons(reservation)
	if len(reasons) < mostReasons {
		reasons = v.Reasons()
	}
	for i := range reasons {
		reasons[i] = "- " + reasons[i]
	}
	return slices.Concat(lines, fitting(reasons, left-len(why), width), figures, why)
}

// fitting are as many of some texts as so many lines take, and how many are left out.
func fitting(texts []string, lines, width int) (all []string) {
	for i, text := range texts {
		more := min(1, len(texts)-1-i) // a line to say so
		one := shortened(text, 2, width)
		if len(all)+len(one)+more > lines {
			return append(all, fmt.Sprintf("%d more: --details", len(texts)-i))
		}
		all = append(all, one...)
	}
	return all
}

// shortened are the lines of a text, not all where it is long.
func shortened(text string, indent, width int) []string {
	lines := wrapped(text, indent, width)
	if len(lines) > mostOfAText {
		last := []rune(lines[mostOfAText-1])
		lines = append(lines[:mostOfAText-1], string(last[:min(len(last), width-2)])+" …")
	}
	return lines
}

// wrapped breaks a text into lines of at most width, all but the first indented.
func wrapped(text string, indent, width int) (lines []string) {
	for i, word := range strings.Fields(text) {
		last := len(lines) - 1
		switch {
		case i == 0:
			lines = append(lines, word)
		case utf8.RuneCountInString(lines[last]+" "+word) > width:
			lines = append(lines, strings.Repeat(" ", indent)+word)
		default:
			lines[last] += " " + word
		}
	}
	return lines
}

// markdown writes a view as GitHub's Markdown.
func (v view) markdown(b *bufio.Writer, details bool) {
	fmt.Fprintf(b, "### %s\n", markdown(v.Title))
	if v.Headline != "" {
		fmt.Fprintf(b, "\n**%s**\n", markdown(v.Headline))
	}
	if l := v.Light(); l > aside {
		fmt.Fprintf(b, "\n%s\n\n", l)
	}
	for _, reason := range v.Reasons() {
		fmt.Fprintf(b, "- %s\n", markdown(reason))
	}
	tables, sentences := []table{v.Figures}, v.Why
	if details {
		tables, sentences = append(tables, v.Tables...), append(sentences, v.Notes()...)
	}
	for _, text := range sentences {
		fmt.Fprintf(b, "\n%s\n", markdown(text))
	}
	for _, t := range tables {
		if len(t.Rows) > 0 {
			fmt.Fprintf(b, "\n%s\n\n%s", markdown(t.Caption), t.markdown())
		}
	}
}

// markdown is the table between bars.
func (t table) markdown() string {
	var b strings.Builder
	line := func(cells []string) {
		for i, cell := range cells {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString("| " + markdown(cell))
		}
		b.WriteString(" |\n")
	}
	line(t.Head)
	for i := range t.Head {
		if i == 0 || t.Words {
			b.WriteString("| --- ")
		} else {
			b.WriteString("| ---: ")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.Rows {
		line(row)
	}
	return b.String()
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`",
	"<", "&lt;", "[", `\[`, "#", `\#`, "\n", " ")

// markdown is a text in which nothing is markup.
func markdown(text string) string { return markdownEscapes.Replace(text) }

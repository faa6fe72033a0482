package report

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The first part of a text is a screen of a terminal at most.
const (
	textWidth   = 100
	textLines   = 40
	textRows    = 14 // of its table
	mostOfAText = 3  // lines of a sentence
)

func (v view) text(b *bufio.Writer, details bool) {
	if !details {
		for _, line := range v.screen() {
			fmt.Fprintln(b, line)
		}
		return
	}
	all := slices.Concat([]string{v.Title, v.Headline, v.Light().String()}, v.reasons(aside), v.Why)
	for _, text := range slices.DeleteFunc(all, func(text string) bool { return text == "" }) {
		fmt.Fprintln(b, text)
	}
	for _, t := range append([]table{v.Figures}, v.Tables...) {
		if len(t.Rows) > 0 && !t.Long {
			fmt.Fprint(b, "\n", t.text())
		}
	}
}

// screen is what is first of a view. Of what does not fit it says how much there is.
func (v view) screen() []string {
	lines := append(shortened(v.Title, 0), shortened(v.Headline, 0)...)
	if l := v.Light(); l > aside {
		lines = append(lines, l.String())
	}
	var figures, why []string
	if len(v.Figures.Rows) > 0 {
		figures = append(figures, "")
		for line := range strings.Lines(v.Figures.within(textWidth, textRows).text()) {
			figures = append(figures, strings.TrimRight(line, "\n"))
		}
	}
	left := textLines - len(lines) - len(figures)
	if len(v.Why) > 0 {
		why = append(why, "")
		why = append(why, fitting(v.Why, left/2-1)...)
	}
	reasons := v.reasons(reservation)
	if len(reasons) < mostReasons {
		reasons = v.Reasons()
	}
	for i := range reasons {
		reasons[i] = "- " + reasons[i]
	}
	return slices.Concat(lines, fitting(reasons, left-len(why)), figures, why)
}

// fitting are as many of some texts as so many lines take, and how many are left out.
func fitting(texts []string, lines int) (all []string) {
	for i, text := range texts {
		more := min(1, len(texts)-1-i) // a line to say so
		one := shortened(text, 2)
		if len(all)+len(one)+more > lines {
			return append(all, fmt.Sprintf("%d more: --details", len(texts)-i))
		}
		all = append(all, one...)
	}
	return all
}

// shortened are the lines of a text, not all where it is long.
func shortened(text string, indent int) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(wrapped(text, indent), "\n")
	if len(lines) > mostOfAText {
		last := []rune(lines[mostOfAText-1])
		lines = append(lines[:mostOfAText-1], string(last[:min(len(last), textWidth-2)])+" …")
	}
	return lines
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

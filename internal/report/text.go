package report

import (
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
	tableLines  = 20 // of its table
	mostOfAText = 3  // lines of a sentence
)

// text is the lines of a view for a terminal of that width; 0: for none, whose details are not
// broken into lines.
func (v view) text(details bool, columns int) (lines []string) {
	if !details {
		return v.screen(cmp.Or(columns, textWidth))
	}
	all := slices.Concat([]string{v.Title, v.Headline, v.Light()}, v.All(), v.Why)
	for _, text := range filled(all) {
		if columns > 0 {
			lines = append(lines, wrapped(text, 0, columns)...)
		} else {
			lines = append(lines, text)
		}
	}
	for _, t := range append([]table{v.Figures}, v.Tables...) {
		if len(t.Rows) > 0 {
			lines = append(append(lines, ""), t.text(columns)...)
		}
	}
	return lines
}

// screen is what is first of a view. Of what does not fit it says how much there is.
func (v view) screen(width int) []string {
	lines := append(shortened(v.Title, 0, width), shortened(v.Headline, 0, width)...)
	lines = append(lines, filled([]string{v.Light()})...)
	var figures, why []string
	if len(v.Figures.Rows) > 0 {
		figures = append([]string{""}, v.Figures.fitWithin(width, tableLines).text(width)...)
	}
	// The result and its figures are never cut.
	// Reasons and explanations share what headline and figures leave of the screen.
	left := textLines - len(lines) - len(figures)
	if len(v.Why) > 0 {
		why = append([]string{""}, fitting(v.Why, left/2-1, width)...)
	}
	reasons := v.Reasons()
	for i := range reasons {
		reasons[i] = "- " + reasons[i]
	}
	return slices.Concat(lines, fitting(reasons, left-len(why), width), figures, why)
}

// fitting are as many of some texts as the lines take, and how many are left out.
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

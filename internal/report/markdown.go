package report

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// markdownLines is how many a page in Markdown has at most.
const markdownLines = 60

// fewestMarkdownLines is how few a view of several gets.
const fewestMarkdownLines = 12

// Markdown writes the page for a comment or the summary of a job: of each record the result, its
// figures and what bears on it, the worst first. It has no HTML, and at most 60 lines.
func (p Page) Markdown(w io.Writer) error {
	views := slices.DeleteFunc(slices.Clone(p.views), func(v view) bool { return v.Part })
	most := max(fewestMarkdownLines, markdownLines/len(views)-1)
	var lines []string
	// Summaries of jobs are cut off by those who show them; better that the report says what it
	// left out.
	for i, v := range views {
		these := cleaned(v).markdown(most)
		if len(lines)+len(these)+2 >= markdownLines {
			lines = append(lines, "", fmt.Sprintf("%d more records", len(views)-i))
			break
		}
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, these...)
	}
	return writeLines(w, lines)
}

// markdown is a view in about so many lines at most: a third of them for its figures.
func (v view) markdown(most int) (lines []string) {
	lines = []string{"### " + markdownText(v.Headline), "", markdownText(v.Title)}
	if l := v.Light(); l != "" {
		lines[2] = "**" + l + "** · " + lines[2]
	}
	if t := v.Figures; len(t.Rows) > 0 {
		shown := min(len(t.Rows), most/3)
		lines = append(lines, "", markdownRow(t.Head), strings.Repeat("| --- ", len(t.Head))+"|")
		for _, row := range t.Rows[:shown] {
			lines = append(lines, markdownRow(row))
		}
		if more := len(t.Rows) - shown; more > 0 {
			lines = append(lines, "", fmt.Sprintf("%d more rows", more))
		}
	}
	texts := slices.Concat(v.All(), v.Why)
	left := max(0, most-len(lines)-4)
	if more := len(texts) - left; more > 0 {
		texts = append(texts[:left], fmt.Sprintf("%d more findings", more))
	}
	if len(texts) > 0 {
		lines = append(lines, "")
	}
	for _, text := range texts {
		lines = append(lines, "- "+markdownText(text))
	}
	return lines
}

func markdownRow(cells []string) string {
	row := "|"
	for _, cell := range cells {
		row += " " + markdownText(cell) + " |"
	}
	return row
}

var markdownSigns = regexp.MustCompile("[\\\\`*_\\[\\]<>|~#&$]")

// markdownText has a text be nothing but text in Markdown. An @ would call the user whose name
// follows.
func markdownText(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = markdownSigns.ReplaceAllString(text, `\$0`)
	return strings.ReplaceAll(text, "@", "@\u200b")
}

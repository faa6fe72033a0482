package report

import (
	"bufio"
	"fmt"
	"strings"
)

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

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "[", `\[`, "#", `\#`, "\n", " ")

// markdown is a text in which nothing is markup.
func markdown(text string) string { return markdownEscapes.Replace(text) }

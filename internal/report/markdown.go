package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// CompareMarkdown writes the comparison for a pull request or a wiki.
func CompareMarkdown(w io.Writer, c Comparison) error { return writeMarkdown(w, compareView(c)) }

// writeMarkdown writes views as GitHub's Markdown: all of them but their charts.
func writeMarkdown(w io.Writer, views ...runView) error {
	b := bufio.NewWriter(w)
	for i, v := range views {
		if i > 0 {
			fmt.Fprintln(b)
		}
		v.cleaned().markdown(b)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (v runView) markdown(b *bufio.Writer) {
	fmt.Fprintf(b, "### %s\n", markdown(v.Title))
	if v.Headline != "" {
		fmt.Fprintf(b, "\n**%s**\n", markdown(v.Headline))
	}
	for i, sentence := range v.Notes {
		if i == 0 {
			fmt.Fprintln(b)
		}
		fmt.Fprintf(b, "- %s\n", markdown(sentence))
	}
	for _, tables := range [][]table{v.Tables, v.Details} {
		for _, t := range tables {
			if len(t.Rows) > 0 {
				fmt.Fprintf(b, "\n%s\n\n%s", markdown(t.Caption), t.markdown())
			}
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

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"ds2/internal/numbers"
)

// table is what the page and the text show alike. The first column names the row; the others are
// figures.
type table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Words   bool // columns hold words, not figures to line up on the right
}

func newTable(caption string, head ...string) table { return table{Caption: caption, Head: head} }

func newWords(caption string, head ...string) table {
	return table{Caption: caption, Head: head, Words: true}
}

func (t *table) row(cells ...string) { t.Rows = append(t.Rows, cells) }

// cells are a row's: its name, and one of each of some things.
func cells[T any](name string, all []T, of func(T) string) []string {
	row := []string{name}
	for _, one := range all {
		row = append(row, of(one))
	}
	return row
}

// list is a table of names and values, which add fills.
func list(caption string) table { return newWords(caption, "what", "value") }

func (t *table) add(name, format string, args ...any) { t.row(name, fmt.Sprintf(format, args...)) }

// within is the table as far as it fits: long cells elided, and without the last columns and rows.
func (t table) within(width, rows int) table {
	if over := len(t.Rows) - rows; over > 0 {
		t.Rows = append(
			slices.Clone(t.Rows[:rows]),
			[]string{fmt.Sprintf("%d more: --details", over)},
		)
	}
	head := t.Head
	all := t.Rows
	for most := 48; t.width() > width && most >= 16; most -= 4 {
		t.Head = elided(head, most)
		t.Rows = nil
		for _, row := range all {
			t.row(elided(row, most)...)
		}
	}
	for t.width() > width && len(t.Head) > 1 {
		t.Head = t.Head[:len(t.Head)-1]
		for i, row := range t.Rows {
			t.Rows[i] = row[:min(len(row), len(t.Head))]
		}
	}
	return t
}

// elided has no cell longer than that. Names often differ in their ends alone, so the middle goes.
func elided(cells []string, most int) (short []string) {
	for _, cell := range cells {
		if text := []rune(cell); len(text) > most {
			cell = string(text[:most/2-1]) + "…" + string(text[len(text)-most/2:])
		}
		short = append(short, cell)
	}
	return short
}

// turned has a column for each row.
func (t table) turned() table {
	turned := table{Caption: t.Caption, Head: []string{""}, Words: t.Words}
	for _, name := range t.Head[1:] {
		turned.row(name)
	}
	for _, row := range t.Rows {
		turned.Head = append(turned.Head, row[0])
		for i, cell := range row[1:] {
			turned.Rows[i] = append(turned.Rows[i], cell)
		}
	}
	return turned
}

func (t table) width() (widest int) {
	for _, line := range t.text() {
		widest = max(widest, utf8.RuneCountInString(line))
	}
	return widest
}

// text is the table in columns two blanks apart.
func (t table) text() (lines []string) {
	rows := append([][]string{t.Head}, t.Rows...)
	widths := make([]int, len(t.Head))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	if t.Caption != "" {
		lines = append(lines, t.Caption)
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			width := widths[i]
			if i == 0 || t.Words {
				width = -width // to the left
			}
			line += fmt.Sprintf("  %*s", width, cell)
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// known shows a value; empty where there is none.
func known(v *float64, show func(float64) string) string {
	if v == nil {
		return ""
	}
	return show(*v)
}

// orDash shows a value; a dash where there is none.
func orDash(v float64, show func(float64) string) string {
	if math.IsNaN(v) {
		return "–"
	}
	return show(v)
}

// opmOf is an OPM, or what else is counted, with as many digits as half the width of its interval
// carries, where it has one; empty where it is not known.
func opmOf(opm, half *float64) string {
	if opm == nil {
		return ""
	}
	return numbers.Worth(*opm, *cmp.Or(half, new(0.)))
}

// uncertainty is half the width of an interval; empty where there is none.
func uncertainty(half *float64) string { return opmOf(half, half) }

func figureOr(f *float64) string { return known(f, figure) }

// trimmed is the table without columns that are empty in all rows.
func (t table) trimmed() table {
	for i := len(t.Head) - 1; i > 0; i-- {
		if slices.ContainsFunc(t.Rows, func(row []string) bool { return row[i] != "" }) {
			continue
		}
		t.Head = slices.Delete(t.Head, i, i+1)
		for k, row := range t.Rows {
			t.Rows[k] = slices.Delete(row, i, i+1)
		}
	}
	return t
}

// figure prints a measured value with three digits that matter.
func figure(ms float64) string {
	switch {
	case ms >= 100:
		return numbers.Decimals(ms, 0)
	case ms >= 10:
		return numbers.Decimals(ms, 1)
	}
	return numbers.Decimals(ms, 2)
}

// seconds prints a time of the run to the millisecond, which is what a record has.
func seconds(s float64) string {
	_, fraction, _ := strings.Cut(plain(math.Round(1000*s)/1000), ".")
	return numbers.Decimals(s, len(fraction)) + " s"
}

func users(n int) string { return counted(n, "user") }

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func megabytes(bytes int64) string { return numbers.Decimals(float64(bytes)/1e6, 1) }

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

func (t *table) row(cells ...string) { t.Rows = append(t.Rows, cells) }

// cells are a row's: its name, and one of each of some things.
func cells[T any](name string, all []T, of func(T) string) []string {
	return append([]string{name}, mapEach(all, of)...)
}

// fitWithin is the table as far as it fits into so many lines: long cells elided, and without the
// last columns and rows.
func (t table) fitWithin(width, lines int) table {
	const most = 14 // rows
	if over := len(t.Rows) - most; over > 0 {
		t.Rows = append(slices.Clone(t.Rows[:most]),
			[]string{fmt.Sprintf("%d more: --details", over)})
	}
	// First the cells get shorter, from their middle; only then columns go.
	whole := t
	for letters := 48; letters >= 16; letters -= 4 {
		if t.countFitting(width) == len(t.Head) && len(t.layOutRows(width)) <= lines {
			break
		}
		t = whole.mapCells(func(cell string) string { return elided(cell, letters) })
	}
	return t.columns(0, t.countFitting(width))
}

// columns are some of the table's.
func (t table) columns(from, to int) table {
	t.Head = t.Head[from:to]
	t.Rows = mapEach(t.Rows, func(row []string) []string {
		return row[min(from, len(row)):min(to, len(row))]
	})
	return t
}

func (t table) mapCells(f func(string) string) table {
	t.Head = mapEach(t.Head, f)
	t.Rows = mapEach(t.Rows, func(row []string) []string { return mapEach(row, f) })
	return t
}

func mapEach[T, U any](all []T, f func(T) U) (mapped []U) {
	for _, one := range all {
		mapped = append(mapped, f(one))
	}
	return mapped
}

// elided is no longer than that. Names often differ in their ends alone, so the middle goes.
func elided(cell string, most int) string {
	text := []rune(cell)
	if len(text) <= most {
		return cell
	}
	return string(text[:most/2-1]) + "…" + string(text[len(text)-most/2:])
}

// transpose has a column for each row.
func (t table) transpose() table {
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

// layout is how wide the columns are so that the table is no wider than a width, 0 for any, as far
// as its longest words let it: the widest columns have their cells broken between words.
func (t table) layout(width int) (widths []int) {
	widths = make([]int, len(t.Head))
	longest := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			for word := range strings.FieldsSeq(cell) {
				longest[i] = max(longest[i], utf8.RuneCountInString(word))
			}
		}
	}
	// One blank at a time from what is then the widest: columns end up about alike, and short ones,
	// such as figures, are never broken.
	for total := addWidths(widths); width > 0 && total > width; total-- {
		widest := 0
		for i := range widths {
			if widths[widest] == longest[widest] || widths[i] > max(longest[i], widths[widest]) {
				widest = i
			}
		}
		// No word is broken: a name cut in two is not found by a search.
		if widths[widest] <= longest[widest] {
			break
		}
		widths[widest]--
	}
	return widths
}

// blanks stand before each column.
const blanks = 2

// addWidths is the width of a table of such columns.
func addWidths(widths []int) (total int) {
	for _, width := range widths {
		total += blanks + width
	}
	return total
}

// countFitting is how many columns fit into a width, 0 for any: at least one.
func (t table) countFitting(width int) (n int) {
	// From the right: the first columns name the row and hold what was asked first.
	for n = len(t.Head); n > 1 && width > 0; n-- {
		if addWidths(t.columns(0, n).layout(width)) <= width {
			break
		}
	}
	return n
}

// text is the table in columns two blanks apart, within a width, 0 for any. Columns that do not fit
// beside the others stand below them, with the first, which names the row.
func (t table) text(width int) (lines []string) {
	if t.Caption != "" {
		lines = append(lines, t.Caption)
	}
	names := t.columns(0, t.countNaming())
	n := t.countFitting(width)
	for ; n < len(t.Head) && n > len(names.Head); n = t.countFitting(width) {
		lines = append(append(lines, t.columns(0, n).layOutRows(width)...), "")
		rest := t.columns(n, len(t.Head))
		rest.Head = slices.Concat(names.Head, rest.Head)
		for i, row := range rest.Rows {
			rest.Rows[i] = slices.Concat(names.Rows[i], row)
		}
		t = rest
	}
	return append(lines, t.layOutRows(width)...)
}

// countNaming is how many of the first columns tell the rows apart, such as a configuration and its
// run: one or two.
func (t table) countNaming() int {
	seen := map[string]bool{}
	for _, row := range t.Rows {
		if seen[row[0]] {
			return min(2, len(row))
		}
		seen[row[0]] = true
	}
	return 1
}

// layOutRows is the head and the rows, whose columns fit.
func (t table) layOutRows(width int) (lines []string) {
	widths := t.layout(width)
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		var broken [][]string
		height := 1
		for i, cell := range row {
			broken = append(broken, []string{cell})
			if utf8.RuneCountInString(cell) > widths[i] {
				broken[i] = wrapped(cell, 0, widths[i])
			}
			height = max(height, len(broken[i]))
		}
		for k := range height {
			line := ""
			for i, cell := range broken {
				width := widths[i]
				if i == 0 || t.Words {
					width = -width // to the left
				}
				part := ""
				if k < len(cell) {
					part = cell[k]
				}
				line += fmt.Sprintf("%*s%*s", blanks, "", width, part)
			}
			lines = append(lines, strings.TrimRight(line, " "))
		}
	}
	return lines
}

// showKnown shows a value; empty where there is none.
func showKnown(v *float64, show func(float64) string) string {
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

func figureOr(f *float64) string { return showKnown(f, figure) }

// dropEmptyColumns is the table without columns that are empty in all rows.
func (t table) dropEmptyColumns() table {
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

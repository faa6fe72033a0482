package simulate

import (
	_ "embed"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/datatable"
)

var (
	tables = regexp.MustCompile(`(?s)<!-- simulated: ([^>]+) -->(.*?)<!-- end -->`)
	marks  = regexp.MustCompile(`<!-- (?:simulated: [^>]+|written: [^>]+|end) -->`)
)

// TestTablesEnd: each table that is written has an end before anything else is written, so that
// writing one leaves the others.
func TestTablesEnd(t *testing.T) {
	for _, page := range []string{"explanation/method.md", "evidence/2026-11-simulations.md"} {
		text, err := os.ReadFile("../../docs/" + page)
		require.NoError(t, err)
		open := ""
		for _, mark := range marks.FindAllString(string(text), -1) {
			assert.Equal(
				t, mark == "<!-- end -->", open != "", "%s: %s follows %s", page, mark, open,
			)
			if open = mark; mark == "<!-- end -->" {
				open = ""
			}
		}
		assert.Empty(t, open, page)
	}
}

//go:embed figures.tsv
var figureTable string

// figures are shares, such as .05, and percentages.
var figures = regexp.MustCompile(`(?:^|[^\w.,/])(\.\d{1,3}|\d+(?:\.\d+)?(?:\x{a0}| )?%)`)

// numbers are those of a table.
var numbers = regexp.MustCompile(`\d*\.?\d+`)

// gives says whether a table has a number that is a figure, as far as its digits go.
func gives(table, figure string) bool {
	figure = strings.TrimRight(figure, " %\u00a0")
	_, fraction, _ := strings.Cut(figure, ".")
	want, _ := strconv.ParseFloat(figure, 64)
	return slices.ContainsFunc(numbers.FindAllString(table, -1), func(text string) bool {
		v, _ := strconv.ParseFloat(text, 64)
		return strconv.FormatFloat(v, 'f', len(fraction), 64) ==
			strconv.FormatFloat(want, 'f', len(fraction), 64)
	})
}

// TestFiguresOfText: each share or percentage that the text of a page gives is in figures.tsv, which
// says that it was set, or names the table that gives it; and none is there that no page gives.
func TestFiguresOfText(t *testing.T) {
	simulated := map[string]string{}
	texts := map[string]string{}
	for _, page := range []string{
		"explanation/method.md", "explanation/claims.md", "howto/compare.md",
		"evidence/2026-11-simulations.md",
	} {
		text, err := os.ReadFile("../../docs/" + page)
		require.NoError(t, err)
		for _, table := range tables.FindAllStringSubmatch(string(text), -1) {
			simulated[table[1]] = table[2]
		}
		if !strings.HasPrefix(page, "evidence") {
			texts[page] = tables.ReplaceAllString(string(text), "")
		}
	}
	of := map[string][]string{} // the tables of a figure; "set" is none
	for _, row := range datatable.Rows(figureTable, 3) {
		of[row[0]] = append(of[row[0]], row[1])
		if row[1] != "set" {
			assert.True(t, gives(simulated[row[1]], row[0]),
				"no row of the table %q gives %s (%s)", row[1], row[0], row[2])
		}
	}
	used := map[string]bool{}
	for page, text := range texts {
		for _, m := range figures.FindAllStringSubmatch(text, -1) {
			used[m[1]] = true
			assert.NotEmpty(t, of[m[1]], "%s: figures.tsv does not say what gives %s", page, m[1])
		}
	}
	for figure := range of {
		assert.True(t, used[figure], "no page gives %s", figure)
	}
}

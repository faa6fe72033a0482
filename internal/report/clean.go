package report

import (
	"slices"
	"strings"

	"ds2/internal/escape"
)

// clean is a text of others, safe to show.
func clean(text string) string { return escape.Text(text) }

// cell is a text for a CSV file: clean, and never a formula to a spreadsheet.
func cell(text string) string {
	text = clean(text)
	if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
		return "'" + text
	}
	return text
}

// cleaned is the view with all its texts clean: nothing reaches a page or a terminal but through it.
func (v runView) cleaned() runView {
	for _, text := range []*string{&v.ID, &v.RunID, &v.Title, &v.Headline, &v.Byline} {
		*text = clean(*text)
	}
	v.Facts, v.Notes = slices.Clone(v.Facts), slices.Clone(v.Notes)
	for i, f := range v.Facts {
		v.Facts[i] = fact{clean(f.Name), clean(f.Value), f.State}
	}
	for i := range v.Notes {
		v.Notes[i] = clean(v.Notes[i])
	}
	v.Tables, v.Details, v.Charts = cleanTables(v.Tables), cleanTables(v.Details), slices.Clone(v.Charts)
	for i := range v.Charts {
		c := &v.Charts[i]
		c.Title, c.Text, c.Figures = clean(c.Title), clean(c.Text), c.Figures.cleaned()
		for k := range c.Lines {
			c.Lines[k].Name, c.Lines[k].What = clean(c.Lines[k].Name), clean(c.Lines[k].What)
		}
		for k := range c.Bands {
			c.Bands[k].Name = clean(c.Bands[k].Name)
		}
		for k := range c.Names {
			c.Names[k] = clean(c.Names[k])
		}
		for k := range c.Levels {
			c.Levels[k].Name = clean(c.Levels[k].Name)
		}
	}
	return v
}

func cleanTables(tables []table) []table {
	tables = slices.Clone(tables)
	for i := range tables {
		tables[i] = tables[i].cleaned()
	}
	return tables
}

func (t table) cleaned() table {
	t.Caption, t.Head, t.Rows = clean(t.Caption), slices.Clone(t.Head), slices.Clone(t.Rows)
	for i := range t.Head {
		t.Head[i] = clean(t.Head[i])
	}
	for i, row := range t.Rows {
		t.Rows[i] = slices.Clone(row)
		for k := range row {
			t.Rows[i][k] = clean(row[k])
		}
	}
	return t
}

package report

import (
	"reflect"
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

// cleaned is a view with all its texts clean: nothing reaches a page or a terminal but through it.
func cleaned(v view) view {
	cleanAll(reflect.ValueOf(&v).Elem())
	for i, f := range v.findings {
		v.findings[i].text = clean(f.text)
	}
	return v
}

// cleanAll cleans all texts in a value. Points of charts are figures, and many.
func cleanAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(clean(v.String()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			cleanAll(v.Field(i))
		}
	case reflect.Slice:
		if kind := v.Type().Elem().Kind(); kind == reflect.Array {
			return
		}
		for i := range v.Len() {
			cleanAll(v.Index(i))
		}
	}
}

// Package texttest finds in a text what a test expects of it.
package texttest

import (
	"strings"
	"testing"
)

// Contains finds all of several texts in one.
func Contains(t testing.TB, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%.20000s", want, text)
		}
	}
}

// Flat is a text with one blank between words.
func Flat(text string) string { return strings.Join(strings.Fields(text), " ") }

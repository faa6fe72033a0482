// Package nightly tells which tests take too long for CI: those that make nightly runs.
package nightly

import (
	"os"
	"testing"
)

// At says whether tests may take minutes.
func At() bool { return os.Getenv("DS2_TEST_NIGHTLY") != "" }

// Only skips a test but at night.
func Only(t testing.TB, why string) {
	t.Helper()
	if !At() {
		t.Skip(why + ": make nightly runs it")
	}
}

// Long skips a test that takes more than a few seconds where go test -short asks for the quick
// ones: make test. CI runs it.
func Long(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip(why)
	}
}

package limit

import (
	"slices"
	"testing"
)

// TestBeginnings: each of them is a limit with the bound of its example, and every figure has one.
func TestBeginnings(t *testing.T) {
	var figures []string
	for _, b := range Beginnings(operations...) {
		l, err := Parse(b+" "+Example(b), operations...)
		if err != nil {
			t.Errorf("%q: %v", b, err)
		}
		figures = append(figures, l.Subject)
	}
	for _, name := range names(operations) {
		if !slices.Contains(figures, name) {
			t.Errorf("no limit of %s", name)
		}
	}
	if b := Example("nonsense"); b != "" {
		t.Errorf("an example for what is no limit: %q", b)
	}
}

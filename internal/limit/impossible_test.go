package limit

import "testing"

func TestImpossible(t *testing.T) {
	for text, ok := range map[string]bool{
		"order p95 < 500ms": true, "opm > 1000": true, "errors <= 0%": true,
		"errors < 0%": false, "order p95 < 0ms": false,
	} {
		limits, err := ParseAll([]string{text}, "order")
		if err != nil {
			t.Fatal(err)
		}
		if err := Impossible(limits); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

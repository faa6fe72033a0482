package limit

import "testing"

func TestImpossible(t *testing.T) {
	for _, c := range []struct {
		texts []string
		ok    bool
	}{
		{[]string{"order p95 < 500ms", "opm > 1000"}, true},
		{[]string{"opm > 1000", "opm < 2000"}, true},
		{[]string{"opm >= 1000", "opm <= 1000"}, true},
		{[]string{"errors <= 0%"}, true},
		{[]string{"order p95 < 1s", "order p95 < 2s"}, true},
		{[]string{"errors < 0%"}, false},
		{[]string{"order p95 < 0ms"}, false},
		{[]string{"errors > 100%"}, false},
		{[]string{"opm > 2000", "opm < 1000"}, false},
		{[]string{"opm < 1000", "opm >= 1000"}, false},
	} {
		limits, err := ParseAll(c.texts, "order")
		if err == nil {
			err = Impossible(limits)
		}
		if (err == nil) != c.ok {
			t.Errorf("%q: %v", c.texts, err)
		}
	}
}

package books

import "testing"

func TestSettle(t *testing.T) {
	a, b := entry{Kind: doubtful, Customer: 1, Total: 100, Lines: 2}, entry{Kind: doubtful, Customer: 2, Total: 200, Lines: 1}
	there := func(e entry, order int64) entry {
		e.Kind, e.Order = bought, order
		return e
	}
	partly := there(b, 6)
	partly.Lines = 0
	for _, c := range []struct {
		why                      string
		doubtful, unacknowledged []entry
		whole, strange           int
	}{
		{"both are absent", []entry{a, b}, nil, 0, 0},
		{"one is there", []entry{a, b}, []entry{there(b, 6)}, 1, 0},
		{"one is there in part", []entry{a, b}, []entry{partly}, 0, 1},
		{"one is there twice", []entry{a}, []entry{there(a, 5), there(a, 6)}, 1, 1},
		{"two alike", []entry{a, a}, []entry{there(a, 5), there(a, 6)}, 2, 0},
	} {
		got := newComparison(nil, c.doubtful)
		for _, order := range c.unacknowledged {
			got.next(order)
		}
		if got.whole != c.whole || got.strange != c.strange || len(got.strangers) != c.strange {
			t.Errorf("%s: %d whole, %d strange, want %d and %d", c.why, got.whole, got.strange, c.whole, c.strange)
		}
	}
}

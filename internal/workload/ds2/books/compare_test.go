package books

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/result"
)

func TestComparison(t *testing.T) {
	a := entry{Order: 5, Customer: 1, Total: 100, Lines: 2}
	b := entry{Order: 6, Customer: 2, Total: 200, Lines: 1}
	c := entry{Order: 9, Customer: 3, Total: 300, Lines: 4}
	short := b
	other := b
	short.Lines = 0
	other.Customer = 7
	for _, x := range []struct {
		why                  string
		told, held           []entry
		lost, unacknowledged []int64
	}{
		{"all there", []entry{a, b, c}, []entry{a, b, c}, nil, nil},
		{"nothing at all", nil, nil, nil, nil},
		{"the last is lost", []entry{a, b, c}, []entry{a, b}, []int64{9}, nil},
		{"one between is lost", []entry{a, b, c}, []entry{a, c}, []int64{6}, nil},
		{"one in doubt is there", []entry{a, c}, []entry{a, b, c}, nil, []int64{6}},
		{
			"one is there without its lines",
			[]entry{a, b},
			[]entry{a, short},
			[]int64{6},
			[]int64{6},
		},
		{
			"one is lost and its number given again",
			[]entry{a, b, other},
			[]entry{a, other},
			[]int64{6},
			nil,
		},
		{
			"the same, and the first one was kept",
			[]entry{a, other, b},
			[]entry{a, other},
			[]int64{6},
			nil,
		},
	} {
		got := newComparison(x.told)
		for _, p := range x.held {
			got.takeOrder(p)
		}
		assert.Equal(t, x.lost, got.lostNumbers(bought), "%s: lost", x.why)
		assert.Equal(t, x.unacknowledged, got.strangers, "%s: unacknowledged", x.why)
	}
}

func TestNamed(t *testing.T) {
	for want, orders := range map[string][]int64{
		"0":                     nil,
		"1: orders 12001":       {12001},
		"2: orders 12001-12002": {12002, 12001},
		// one number was given twice
		"6: orders 12001, 12003-12005, 12009": {12009, 12001, 12003, 12004, 12004, 12005},
	} {
		assert.Equal(t, want, result.Named("orders", orders))
	}
}

func TestSettle(t *testing.T) {
	a := entry{Kind: doubtful, Customer: 1, Total: 100, Lines: 2}
	b := entry{Kind: doubtful, Customer: 2, Total: 200, Lines: 1}
	there := func(e entry, order int64) entry {
		e.Kind = bought
		e.Order = order
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
		got := newComparison(c.doubtful)
		for _, order := range c.unacknowledged {
			got.takeOrder(order)
		}
		assert.Equal(
			t,
			[]int{c.whole, c.strange, c.strange},
			[]int{got.whole, got.strange, len(got.strangers)},
			c.why,
		)
	}
}

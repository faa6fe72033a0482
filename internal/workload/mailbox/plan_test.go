package mailbox

import (
	"math"
	"strings"
	"testing"
)

// TestRequest: each parameter that no database can serve is refused by its name.
func TestRequest(t *testing.T) {
	for _, c := range []struct {
		name   string // that the refusal begins with; empty: none
		change func(*Request)
	}{
		{"", func(*Request) {}},
		{"", func(r *Request) { r.Lazy, r.PerMailbox, r.Headroom = 100, 0.5, 20 }},
		{"mailbox-profile: ", func(r *Request) { r.Profile = "exchange2003" }},
		{"lazy ", func(r *Request) { r.Lazy = 101 }},
		{"lazy ", func(r *Request) { r.Lazy = -2 }},
		{"batch ", func(r *Request) { r.Batch = 0 }},
		{"batch ", func(r *Request) { r.Batch = MaxBatch + 1 }},
		{"iops-per-mailbox ", func(r *Request) { r.PerMailbox = math.NaN() }},
		{"headroom ", func(r *Request) { r.Headroom = 10 }},
	} {
		r := Request{Lazy: -1, Batch: 1}
		c.change(&r)
		err := r.Check()
		if (err == nil) != (c.name == "") || err != nil && !strings.HasPrefix(err.Error(), c.name) {
			t.Errorf("%+v: %v, want %q", r, err, c.name)
		}
	}
}

package report

import (
	"testing"

	"ds2/internal/result"
	"ds2/internal/texttest"
)

// TestSlowest: the page says which operations took the time of the slowest orders.
func TestSlowest(t *testing.T) {
	r := record(t, func(s *result.Summary) {
		s.Slowest = []result.SlowOrder{
			{From: 20, To: 20.9, Operation: "purchase"}, {From: 30, To: 30.5, Operation: "login"},
			{From: 40, To: 40.25, Operation: "purchase"},
		}
	})
	texttest.Contains(t, html(t, r), "The 3 slowest orders", `<th scope="row">purchase</th><td>2</td><td>900</td>`,
		`<th scope="row">login</th><td>1</td><td>500</td>`, `id="run1-slowest"`)
}

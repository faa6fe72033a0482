package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/result"
	"ds2/internal/texttest"
)

// TestSlowest: the page and the text say why the slowest orders were slow, and nothing where nothing is known.
func TestSlowest(t *testing.T) {
	slow := &result.SlowOrders{Causes: []result.SlowCause{
		{Cause: result.CauseLogFlush, Orders: 2, Longest: 900, Operations: map[string]int{"purchase": 1, "login": 1}},
		{Cause: result.Unexplained, Orders: 1, Longest: 300},
	}, Orders: []result.SlowOrder{
		{From: 20, To: 20.9, Cause: result.CauseLogFlush}, {From: 30, To: 30.5, Cause: result.CauseLogFlush},
		{From: 40, To: 40.25, Cause: result.Unexplained},
	}}
	r := record(t, func(s *result.Summary) { s.Slowest = slow })
	const says = "Of the 3 slowest orders, which took 250 ms and more, 2 waited for a log flush, 1 unexplained."
	page := html(t, r)
	texttest.Contains(t, page,
		says, "<th scope=\"row\">waited for a log flush</th>", `id="run1-slowest"`, "login 1, purchase 1")
	r.Slowest.Causes = r.Slowest.Causes[1:]
	require.False(t, strings.Contains(html(t, r), "Of the 3 slowest"))
	r.Slowest = &result.SlowOrders{}
	require.NotEmpty(t, html(t, r))
}

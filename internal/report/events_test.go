package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/texttest"
)

// TestEvents: text and page say what the events of a run did, and every chart over time shows them.
func TestEvents(t *testing.T) {
	r := record(t, func(s *result.Summary) {
		s.Events = []result.Event{{Asked: 30, From: 30.01, To: 30.02, Command: "dmsetup suspend data"},
			{From: 37, To: 37.1, Command: "dmsetup resume data", Error: "exit status 1"},
			{From: 55, To: 55.1, Command: "true"}}
		s.Disturbances = []result.Disturbance{
			{Events: []int{1, 2}, Disturbance: measure.Disturbance{From: 30.01, Undisturbed: 6000, Back: new(7.02),
				Lost: 702, LostCI95: new(40.), Longest: 7100, Errors: []measure.FailureCount{
					{Operation: "login", Class: "timeout", Count: 1},
					{Operation: "purchase", Class: "timeout", Count: 2}}}},
			{Events: []int{3}, Disturbance: measure.Disturbance{From: 55.1}, Unknown: "it is too late"},
		}
	})
	page := html(t, r)
	texttest.Contains(t, page,
		"Event 1 and event 2 at 30.0 s: 702 orders lost ± 40 against 6,000 OPM before, back within 5 % after 7.0 s; "+
			"the longest order took 7,100 ms, failed attempts: timeout 3.",
		"What event 3 at 55.1 s did is unknown: it is too late.",
		"<td>dmsetup resume data</td><td>exit status 1</td>",
	)
	charts, err := charts(r, "run1")
	require.NoError(t, err)
	for _, c := range charts {
		if c.Labels == nil && c.XName == "" {
			require.Equal(t, vertical{"event 2", 37}, c.Verticals[1], c.ID)
		}
	}
}

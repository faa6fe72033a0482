package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/texttest"
)

func TestFaultsAndOpenLoopAreTold(t *testing.T) {
	s := result.Summary{
		Spec: result.Spec{Words: orders, Rate: 500},
		Happened: result.Happened{
			Errors: []measure.FailureCount{{Operation: "purchase", Class: "resource", Count: 4,
				Example: "disk full"}},
			Counts:   measure.Counts{Retries: 3, Reconnects: 2, GivenUp: 1},
			ByTarget: []result.Target{{Target: "a/ds2", OPM: 100}, {Target: "b/ds2", OPM: 200}}},
		Conclusion: result.Conclusion{Windows: []measure.Window{{Counts: measure.Counts{Offered: 1000, Orders: 990,
			Dropped: 7}, Name: "run", Stalled: .3}}},
	}
	s.Counts.Own[0], s.Counts.Names = 1, &[]string{"in_doubt_purchases"}
	var v view
	v.findRun(s)
	text := strings.Join(v.Notes(), "\n")
	texttest.Contains(t, text,
		"1,000 fell due", "990 were completed and 7 dropped",
		"failed attempts: resource 4 (the first of resource in purchase: disk full); retries 3, reconnects 2, "+
			"orders given up 1",
		"purchases 1, new customers 0")
	require.Equal(t, failure, v.Light())
	require.Equal(t, "Nothing was completed in 30 % of the window run, while attempts failed.", v.Reasons()[0])
	rows := targetTable(s).Rows
	require.Len(t, rows, 2)
	assert.Equal(t, []string{"b/ds2", "200"}, rows[1][:2])
}

func TestARunWithoutFaultsTellsNone(t *testing.T) {
	s := result.Summary{Happened: result.Happened{ByTarget: []result.Target{{Target: "a/ds2"}}}}
	assert.Empty(t, openLoopNote(s), "of a closed loop")
	_, note := faultNote(s)
	assert.Empty(t, note, "of no faults")
	assert.Empty(t, targetTable(s).Rows, "of one target")
}

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

package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/texttest"
)

// TestSections has a run of a workload that is judged by IOPS and brings a section of its own.
func TestSections(t *testing.T) {
	r := &result.Record{Summary: result.Summary{
		Asked: result.Asked{RunID: "r1", Workload: "other", Engine: "postgres", Size: "7 boxes", Threads: 2,
			Targets: []string{"h:1/db"}},
		Happened: result.Happened{Status: result.Done, Start: time.Unix(0, 0)},
		Conclusion: result.Conclusion{
			Headline: result.NewHeadline(&result.Figure{Unit: result.IOPS, Value: 274.15}),
			Windows:  []measure.Window{{Name: "run", To: 10, Steady: measure.Steadiness{Why: "as it was"}}},
			Sections: []result.Section{{
				Title: "Sizing and throughput", Notes: []string{"It is no published result."}, Words: true,
				Head: []string{"what", "value"}, Rows: [][]string{{"achieved I/O per second", "274.15"}, {"<b>", "1"}},
			}},
		},
	}}
	text := told(t, Runs(r))
	texttest.Contains(t, text,
		"other on postgres, size 7 boxes, 2 users", "274 IOPS\n", "It is no published result.", "Sizing and throughput",
		"achieved I/O per second  274.15")
	assert.NotContains(t, text, "orders completed a minute", "the text explains an OPM")
	page := html(t, r)
	texttest.Contains(t, page, "Sizing and throughput", "274.15", "&lt;b&gt;")
	assert.NotContains(t, page, "items an order", "the page has parameters of DVD Store 2")
}

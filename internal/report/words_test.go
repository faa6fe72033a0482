package report

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ds2/internal/compare"
	"ds2/internal/conclude"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/texttest"
)

// TestWords prints results of a workload that has no orders, and brings its own section: nothing in
// them says order, OPM or rollback.
func TestWords(t *testing.T) {
	words := result.Words{
		Cycle:  "transaction",
		Cycles: "transactions",
		Rate:   "TPM",
		Unit:   result.IOPS,
	}
	latency := map[string]measure.Latency{
		measure.WholeOrder: {Count: 10, P95: 3},
		"read":             {Count: 10, P95: 3},
	}
	s := result.Summary{
		Spec: result.Spec{
			RunID: "r1", Workload: "other", Words: words, Engine: "postgres", Size: "7 boxes",
			Threads: 2, Targets: []string{"h:1/a", "h:1/b"},
		},
		Happened: result.Happened{
			Status: result.Done, Start: time.Unix(0, 0),
			ByTarget: []result.Target{{Target: "h:1/a", OPM: 300}, {Target: "h:1/b", OPM: 300}},
			Counts:   measure.Counts{Orders: 100, GivenUp: 1, Retries: 2},
		},
		Conclusion: result.Conclusion{
			Sections: []result.Section{
				{
					Title: "Sizing and throughput",
					Notes: []string{"It is no published result."},
					Words: true,
					Head:  []string{"what", "value"},
					Rows: [][]string{
						{"achieved transactional I/O per second", "274.15"},
						{"<b>", "1"},
					},
				},
			},
			Headline: result.NewHeadline(
				&result.Figure{Unit: result.IOPS, Value: 274.15, PerWatt: new(2.7415)},
			),
			Power: &result.Power{Active: new(100.)},
			Costs: &result.Costs{Reads: new(2.)},
			Windows: []measure.Window{{
				Name: "run", To: 10, OPM: 600, Latency: latency,
				Counts: measure.Counts{Orders: 100}, Steady: measure.Steadiness{Why: "as it was"},
			}},
		},
	}
	s.Rate = 10
	conclude.Find(&s)
	foreign := regexp.MustCompile(`(?i)\border|\bopm\b|rollback|customer|browse`)
	check := func(what, text string, wanted ...string) {
		t.Helper()
		for line := range strings.Lines(text) {
			assert.False(t, foreign.MatchString(line), "%s says %q", what, strings.TrimSpace(line))
		}
		texttest.Contains(t, text, wanted...)
	}
	check(
		"the text of a run",
		told(t, Runs(&result.Record{Summary: s})),
		"What a transaction costs",
		"Open loop of 10 transactions a second",
		"transactions given up 1",
		"cumulative TPM",
		"other on postgres, size 7 boxes, 4 users",
		"274 IOPS\n",
		"It is no published result.",
		"Sizing and throughput",
		"achieved transactional I/O per second  274.15",
	)
	page := written(t, Runs(&result.Record{Summary: s}))
	texttest.Contains(t, page, "Sizing and throughput", "274.15", "&lt;b&gt;")
	assert.NotContains(t, page, "items per order", "the page has parameters of DVD Store 2")

	judged := s
	judged.Pace = &result.Pace{Target: 250}
	judged.Limits = result.Verdicts{{Limit: "data read mean < 20ms", OK: true}}
	fits := result.NewFinding(result.MemoryHoldsIt, "it fits into memory")
	judged.Noticed = []result.Finding{fits.About("h:1/a"), fits.About("h:1/b"), fits.About("h:1/b")}
	conclude.Find(&judged)
	first := texttest.Flat(told(t, Runs(&result.Record{Summary: judged})))
	check("the first screen of a judged run", first, "Pass: 274 IOPS of a target of 250 ",
		"h:1/a, h:1/b: it fits into memory.", " data read mean < 20ms ")
	judged.Audit = &result.Audit{}
	conclude.Find(&judged)
	assert.Equal(t, "Fail", passOrFail(judged))

	uncounted := s
	uncounted.Headline = result.NewHeadline(&result.Figure{Unit: "TPM", Value: 600})
	uncounted.CumulativeOPM = new(540.)
	uncounted.CumulativeOf = &measure.Average{Orders: 90, Seconds: 10}
	check(
		"the text of a run without I/O counters",
		told(t, Runs(&result.Record{Summary: uncounted})),
		"600 TPM",
		"Cumulative TPM: 540, ",
		"(90 transactions in 10 s)",
	)

	one := compare.Configuration{Name: "a", Bench: compare.Single(s)}
	other := compare.Configuration{Name: "b", Bench: compare.Single(s)}
	both := compare.WithFirst([]compare.Configuration{one, other})
	check("the text of a comparison", told(t, Comparison(both)), "transaction p95 of b",
		"transaction p95 ms", "device reads per transaction")

	search := result.Search{
		Spec:   result.Spec{Words: words},
		Trials: []result.Trial{{Threads: 1, Value: 3}},
	}
	check("the text of a search", told(t, Search(search)), "transaction p95 ms")
}

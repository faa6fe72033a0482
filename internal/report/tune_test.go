package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/result"
	"ds2/internal/texttest"
)

// search is a search that ended at its limits with 7 users.
func search() result.Search {
	trial := func(users int, opm, p95, strain float64, confirm bool) result.Trial {
		return result.Trial{
			Threads: users,
			Value:   opm,
			P95:     p95,
			Strain:  strain,
			Passed:  strain < 1,
			Confirm: confirm,
			Record:  "05-7-users",
		}
	}
	holds := result.Verdict{
		Limit: "order p95 < 200ms", Unit: result.UnitSeconds, Bound: 0.2,
		Measured: new(0.19), OK: true, Runs: 3, Held: 3,
	}
	return result.Search{
		Spec: result.Spec{
			RunID: "abc", Words: orders, Engine: "postgres", Targets: []string{"host/db"},
			Size: "S", Restore: "reset",
			LimitTexts: []string{"order p95 < 200ms"},
		},
		SearchConfig: result.SearchConfig{Start: 1, Max: 512, Confirm: 3},
		Trials: []result.Trial{
			trial(4, 2000, 0.03, 0.15, false),
			trial(8, 7200, 0.25, 1.25, false),
			trial(7, 6900, 0.19, 0.95, true),
			trial(7, 7000, 0.18, 0.9, true),
			trial(7, 7100, 0.17, 0.85, true),
			{Threads: 9, Error: "connect: refused", Record: "06-9-users"},
		},
		SearchResult: result.SearchResult{Users: 7, Why: "the limits fail with 8 users"},
		Headline:     result.NewHeadline(&result.Figure{Unit: result.OPM, Value: 7000}),
		Verdicts:     result.Verdicts{holds},
	}
}

func TestTune(t *testing.T) {
	nothing := search()
	nothing.Users = 0
	nothing.Headline = result.Headline{}
	nothing.Verdicts = nil
	nothing.Why = "the limits fail already with 1 user"
	found := Search(search())
	none := Search(nothing)
	texttest.Contains(
		t,
		told(t, found),
		"7,000 OPM with 7 users",
		"Median of the 3 runs that confirm 7 users; the limits fail with 8 users.",
		"The run with 9 users in 06-9-users failed: connect: refused.",
		"Pass: every limit holds.",
		"3 of 3",
	)
	texttest.Contains(t, written(t, found), "7,000 OPM with 7 users",
		`id="search-opm"`, `id="search-p95"`,
		`{"name":"result","at":7}`, `"name":"trial whose limits fail","points":[[8,7200]]`,
		`"levels":[{"name":"order p95 \u003c 200ms","at":200}]`, `id="search-strain"`)
	whole := search()
	whole.Trials = whole.Trials[:5]
	assert.Contains(t, written(t, Search(whole)), `class="light good"`)
	assert.NotContains(t, written(t, found), `class="light good"`, "a run failed")
	whole.Trials[0].Value = 7800
	assert.Contains(t, told(t, Search(whole)), "4 users had 7,800 OPM, more than the result")
	texttest.Contains(t, told(t, none), "no result", "The limits fail already with 1 user.")
	page := written(t, none)
	texttest.Contains(t, page, "no result", `id="search-opm"`)
	assert.NotContains(t, page, `class="light good"`)
}

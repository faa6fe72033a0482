package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/limit"
	"ds2/internal/result"
	"ds2/internal/texttest"
	"ds2/internal/tune"
)

// search is a search that ended at its limits with 7 users.
func search() result.Search {
	trial := func(users int, opm, p95, strain float64) result.Trial {
		return result.Trial{
			Threads: users, OPM: opm, P95: p95, Strain: strain, Passed: strain < 1, Record: "05-7-users",
		}
	}
	best := tune.Point{Threads: 7, Trials: []result.Trial{
		trial(7, 6900, 0.19, 0.95), trial(7, 7000, 0.18, 0.9), trial(7, 7100, 0.17, 0.85),
	}}
	holds := limit.Verdict{Limit: "order p95 < 200ms", Unit: limit.Seconds, Bound: 0.2, Measured: new(0.18), OK: true}
	return result.Search{
		RunID: "abc", Engine: "postgres", Targets: []string{"host/db"}, Size: "S", Restore: "reset",
		Limits: []string{"order p95 < 200ms"},
		Config: tune.Config{Method: tune.Golden, Start: 1, Max: 512, Gain: 0.02},
		Result: tune.Result{
			Curve: tune.Curve{
				{Threads: 1, Trials: []result.Trial{trial(1, 2000, 0.03, 0.15)}}, best,
				{Threads: 8, Trials: []result.Trial{trial(8, 7200, 0.25, 1.25)}},
			},
			Best: &best, Knee: 3.6, Why: "the limits fail with 8 users",
		},
		Headline: result.NewHeadline(&result.Figure{Unit: result.OPM, Value: 7000}),
		Words:    orders,
		Verdicts: []limit.Verdict{holds},
	}
}

func TestTune(t *testing.T) {
	nothing := search()
	nothing.Best, nothing.Headline, nothing.Verdicts = nil, result.Headline{}, nil
	nothing.Why = "the limits fail already with 1 user"
	found, none := Search(search(), nil), Search(nothing, nil)
	texttest.Contains(t, told(t, found), "7,000 OPM with 7 users",
		"Median of the last runs with 7 users, made when they had been found; the limits fail with 8 users.",
		"about 3.6 users", "Pass: every limit holds.", "05-7-users")
	texttest.Contains(t, written(t, found), "7,000 OPM with 7 users",
		`class="light good"`, `id="search-opm"`, `id="search-p95"`, `{"name":"knee","x":3.6}`,
		`{"name":"result","x":7}`, `"name":"trial whose limits fail","points":[[8,7200]]`,
		`"levels":[{"name":"order p95 \u003c 200ms","y":200}]`, `id="search-strain"`,
		`"name":"range of the trials","points":[[7,6900],[7,7100],[7,null]]`)
	texttest.Contains(t, told(t, none), "no result", "The limits fail already with 1 user.")
	page := written(t, none)
	texttest.Contains(t, page, "no result", `id="search-opm"`)
	assert.NotContains(t, page, `class="light good"`)
}

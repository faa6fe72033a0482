package report

import (
	"ds2/internal/conclude"
	"fmt"
	"strings"
	"time"

	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// fact is one thing that a reader looks for first. State is "good" or "bad", or empty where it is neither.
type fact struct{ Name, Value, State string }

// byline says when and with what a result came about; what is not known is left out.
func byline(start time.Time, run, kit, where string) string {
	parts := []string{start.UTC().Format("2006-01-02 15:04 UTC"), run}
	if kit != "" {
		parts = append(parts, "ds2 "+kit)
	}
	if where != "" {
		parts = append(parts, where)
	}
	return strings.Join(parts, " · ")
}

// facts are those of a run.
func facts(s result.Summary) (all []fact) {
	judged := func(name string, good bool, yes, no string) {
		f := fact{name, no, "bad"}
		if good {
			f = fact{name, yes, "good"}
		}
		all = append(all, f)
	}
	if len(s.Windows) > 0 {
		w := s.Windows[0]
		judged("steady", w.Steady.Verdict, "yes", "no")
		all = append(all, fact{Name: s.Words.Cycle + " p95", Value: figure(w.Latency[measure.WholeOrder].P95) + " ms"})
	}
	if len(s.Limits) > 0 {
		judged("limits", limit.Passed(s.Limits), "pass", "FAIL")
	}
	if s.Bottleneck != nil {
		all = append(all, fact{Name: "bottleneck", Value: s.Bottleneck.What})
	}
	if s.Power != nil {
		all = append(all, powerFacts(s.Figure, s.Power.Idle, s.Power.Active)...)
	}
	if s.Audit == nil || s.Audit.NotAudited != "" {
		return append(all, fact{"audit", "not made", "bad"})
	}
	judged("audit", s.Audit.Passed, "passed", "FAILED")
	return all
}

// benchFacts are those of a bench.
func benchFacts(b result.Bench) (all []fact) {
	count := fact{"runs that count", fmt.Sprintf("%d of %d", len(conclude.Counted(b)), b.Setup.Runs), "good"}
	if len(conclude.Counted(b)) < b.Setup.Runs {
		count.State = "bad"
	}
	all = append(all, count)
	if b.RunsSpread != nil {
		all = append(all, fact{Name: "(max − min) / mean", Value: fmt.Sprintf("%.1f %%", *b.RunsSpread)})
	}
	for _, r := range b.Runs {
		if r.Dir == b.Median && r.Bottleneck != "" {
			all = append(all, fact{Name: "bottleneck", Value: r.Bottleneck})
		}
	}
	return append(all, powerFacts(b.Figure, b.Idle, b.Active)...)
}

func powerFacts(f *result.Figure, idle, active *float64) (all []fact) {
	if f == nil {
		f = &result.Figure{}
	}
	for _, p := range []struct {
		name, unit string
		value      *float64
	}{{"idle", " W", idle}, {"active", " W", active}, {f.Unit + " per watt", "", f.PerWatt}} {
		if p.value != nil {
			all = append(all, fact{Name: p.name, Value: decimal(p.value, 1) + p.unit})
		}
	}
	return all
}

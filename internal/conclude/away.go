package conclude

import (
	"fmt"
	"slices"
	"time"

	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/numbers"
)

// away says when the server did not answer, and when ds2 itself stood still.
func away(in Input, outages []measure.Outage) (all []string) {
	for _, o := range outages {
		all = append(all, fmt.Sprintf("the server did not answer from %s to %s: %d %s given up, %d retries",
			numbers.Clock(o.From), numbers.Clock(o.To), o.GivenUp, in.Words.Cycles, o.Retries))
	}
	for _, gap := range in.Series.Gaps() {
		all = append(all, fmt.Sprintf("for %.0f s, until %s, ds2 itself stood still: it or its machine was stopped",
			(gap.To-gap.From-time.Second).Seconds(), numbers.Clock(gap.To)))
	}
	return all
}

// answered are the counters of the time in which the server answered, which alone say what held the rest back.
func answered(in Input, outages []measure.Outage) monitor.Table {
	t := in.Counters
	t.Rows = slices.DeleteFunc(slices.Clone(t.Rows), func(r monitor.Row) bool {
		at := r.Time.Sub(in.Start)
		return slices.ContainsFunc(outages, func(o measure.Outage) bool { return at > o.From && at <= o.To })
	})
	return t
}

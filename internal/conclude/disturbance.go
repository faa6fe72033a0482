package conclude

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"ds2/internal/measure"
	"ds2/internal/numbers"
	"ds2/internal/result"
	"ds2/internal/sampling"
)

// listDisturbances are what the events of a run did. An event before orders were back from another
// is part of the same disturbance, to the second that samples tell.
func listDisturbances(in Input) (all []result.Disturbance) {
	for i, event := range in.Events {
		from := measure.Seconds(event.From)
		// The rate that was lost is taken from before the first event, the only time that none
		// disturbed.
		first := measure.Seconds(in.Events[0].From)
		if n := len(all) - 1; n >= 0 && all[n].Unknown == "" &&
			(all[n].Back == nil || event.From < all[n].From+*all[n].Back+1) {
			all[n].Events = append(all[n].Events, i+1)
			continue
		}
		d := result.Disturbance{Events: []int{i + 1}}
		var err error
		if d.Disturbance, err = in.Series.Disturbance(from, first); err != nil {
			d.From = event.From
			d.Unknown = err.Error()
		}
		all = append(all, d)
	}
	return all
}

// disturbanceConditions are the figures of all disturbances of a run, by which runs are compared.
func disturbanceConditions(all []result.Disturbance) []result.Condition {
	lost := 0.
	back := 0.
	longest := 0.
	for _, d := range all {
		if d.Unknown != "" {
			return nil
		}
		lost += d.Lost
		longest = max(longest, d.Longest)
		// After one whose rate never came back, until when all were back is unknown too.
		back = max(back, *cmp.Or(d.Back, new(math.NaN())))
	}
	if len(all) == 0 {
		return nil
	}
	var figures conditions
	figures.add(result.LostOrders, &lost, 1, "")
	figures.add(result.LongestOrder, &longest, 1, "ms")
	figures.add(result.BackAfter, measure.Known(back), 1, "s")
	return figures
}

// findOutages says when the server did not answer, and when ds2 itself stood still.
func findOutages(in Input, outages []measure.Outage) (all []result.Finding) {
	for _, o := range outages {
		text := fmt.Sprintf("from %s to %s: %d %s given up, %d retries",
			numbers.Clock(o.From), numbers.Clock(o.To), o.GivenUp, in.Words.Cycles, o.Retries)
		all = append(all, result.NewFinding(result.Away, text))
	}
	// A sample is due each second. Where ds2 itself did not run, as on a machine that was
	// suspended, the samples say nothing of the server. The second that was due anyway is no
	// standstill.
	for _, gap := range in.Series.Gaps() {
		f := result.NewFinding(result.StoodStill, numbers.Clock(gap.To))
		seconds := math.Round((gap.To - gap.From - time.Second).Seconds())
		all = append(all, f.With("seconds", seconds))
	}
	return all
}

// countersWhileAnswered are the counters of the time in which the server answered, which alone say
// what held the rest back.
func countersWhileAnswered(in Input, outages []measure.Outage) sampling.Table {
	t := in.Counters
	t.Rows = slices.DeleteFunc(slices.Clone(t.Rows), func(r sampling.Row) bool {
		at := r.Time.Sub(in.Start)
		return slices.ContainsFunc(outages, func(o measure.Outage) bool {
			return at > o.From && at <= o.To
		})
	})
	return t
}

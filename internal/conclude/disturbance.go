package conclude

import (
	"ds2/internal/measure"
	"ds2/internal/result"
)

// disturbances are what the events of a run did. An event before orders were back from another is part of the same
// disturbance, to the second that samples tell.
func disturbances(in Input) (all []result.Disturbance) {
	back := 0. // when orders were
	for i, event := range in.Events {
		from, first := measure.Seconds(event.From), measure.Seconds(in.Events[0].From)
		if n := len(all); n > 0 && all[n-1].Unknown == "" && (all[n-1].Back == nil || event.From < back+1) {
			all[n-1].Events = append(all[n-1].Events, i+1)
			continue
		}
		d := result.Disturbance{Events: []int{i + 1}}
		var err error
		if d.Disturbance, err = in.Series.Disturbance(from, first); err != nil {
			d.From, d.Unknown = event.From, err.Error()
		} else if d.Back != nil {
			back = d.From + *d.Back
		}
		all = append(all, d)
	}
	return all
}

// disturbanceConditions are the figures of all disturbances of a run, by which runs are compared.
func disturbanceConditions(all []result.Disturbance) []result.Condition {
	lost, back, longest := 0., 0., 0.
	backs := true
	for _, d := range all {
		if d.Unknown != "" {
			return nil
		}
		lost, longest = lost+d.Lost, max(longest, d.Longest)
		if backs = backs && d.Back != nil; backs {
			back = max(back, *d.Back)
		}
	}
	if len(all) == 0 {
		return nil
	}
	var figures conditions
	figures.add(result.LostOrders, &lost, 1, "")
	figures.add(result.LongestOrder, &longest, 1, "ms")
	if backs {
		figures.add(result.BackAfter, &back, 1, "s")
	}
	return figures
}

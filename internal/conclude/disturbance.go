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
		if n := len(all); n > 0 && all[n-1].Unknown == "" && (all[n-1].Back == nil || event.From < back+1) {
			all[n-1].Events = append(all[n-1].Events, i+1)
			continue
		}
		d := result.Disturbance{Events: []int{i + 1}}
		var err error
		if d.Disturbance, err = in.Series.Disturbance(measure.Seconds(event.From), measure.Seconds(in.Events[0].From)); err != nil {
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
	conditions := []result.Condition{{Name: result.LostOrders, Value: lost}, {Name: result.LongestOrder, Value: longest, Unit: "ms"}}
	if backs {
		conditions = append(conditions, result.Condition{Name: result.BackAfter, Value: back, Unit: "s"})
	}
	return conditions
}

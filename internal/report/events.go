package report

import (
	"fmt"
	"strings"

	"ds2/internal/result"
)

// disturbanceNotes say what the events of a run did.
func disturbanceNotes(s result.Summary) (notes []string) {
	for _, d := range s.Disturbances {
		text := fmt.Sprintf("%s at %s s", eventNames(d), number(d.From, 1))
		if d.Unknown != "" {
			notes = append(notes, fmt.Sprintf("What %s did is unknown: %s.", text, d.Unknown))
			continue
		}
		text = fmt.Sprintf("%s: %s %s lost", capital(text), number(d.Lost, 0), s.Words.Cycles)
		if d.LostCI95 != nil {
			text += " ± " + uncertainty(d.LostCI95)
		}
		text += fmt.Sprintf(" against %s %s before", number(d.Undisturbed, 0), s.Words.Rate)
		if d.Back != nil {
			text += fmt.Sprintf(", back within 5 %% after %s s", number(*d.Back, 1))
		} else {
			text += ", not back within 5 % before the end of the run"
		}
		notes = append(notes, text+fmt.Sprintf("; the longest %s took %s ms, %s.", s.Words.Cycle, figure(d.Longest), failuresOf(d)))
	}
	return notes
}

// eventNames are those of a disturbance, as the charts call them.
func eventNames(d result.Disturbance) string {
	var names []string
	for _, n := range d.Events {
		names = append(names, fmt.Sprintf("event %d", n))
	}
	return strings.Join(names, " and ")
}

func failuresOf(d result.Disturbance) string {
	classes := map[string]int64{}
	for _, f := range d.Errors {
		classes[f.Class] += f.Count
	}
	var some []string
	for _, class := range seriesOf(classes) {
		some = append(some, class+" "+integer(classes[class]))
	}
	if len(some) == 0 {
		return "no attempt failed"
	}
	return "failed attempts: " + strings.Join(some, ", ")
}

// eventTable is the commands that were run.
func eventTable(s result.Summary) table {
	t := table{Caption: "Events", Head: []string{"event", "from", "to", "command", "failed"}, Words: true}
	for i, e := range s.Events {
		t.Rows = append(t.Rows, []string{fmt.Sprintf("event %d", i+1), number(e.From, 1) + " s", number(e.To, 1) + " s", e.Command, e.Error})
	}
	return t
}

package report

import (
	"fmt"
	"strings"

	"ds2/internal/measure"
	"ds2/internal/numbers"
	"ds2/internal/result"
)

// openLoopNote tells how an open loop kept up in the first window; empty for a closed one.
func openLoopNote(s result.Summary) string {
	if s.Rate == 0 {
		return ""
	}
	w := s.Windows[0]
	text := fmt.Sprintf(
		"Open loop of %s %s a second: %s fell due in the window, %s were completed and %s dropped; "+
			"response times count from when %s was due.",
		plain(s.Rate),
		s.Words.Cycles,
		numbers.Integer(w.Counts.Offered),
		numbers.Integer(w.Counts.Orders),
		numbers.Integer(w.Counts.Dropped),
		s.Words.A(),
	)
	if from := w.Latency[measure.WholeOrder].AtLeastFrom; from != nil {
		text += fmt.Sprintf(
			" Those that were dropped count with the time that they would have waited at least: "+
				"response times from the %.4gth percentile on, and the mean, are at least so long.",
			*from,
		)
	}
	return text
}

func targetTable(s result.Summary) table {
	words := s.Words
	t := newTable(
		"Targets, over the whole run; cumulative "+words.Rate+" is from the end of the warm-up on",
		"target",
		"cumulative "+words.Rate,
		"of "+words.Cycles,
		"in",
		"all "+words.Cycles,
	)
	t.Head = append(t.Head, undone(words, words.Undone)...)
	for _, x := range words.Added {
		t.Head = append(t.Head, x.Words)
	}
	t.Head = append(t.Head, "retries", "reconnects", "given up")
	if len(s.ByTarget) < 2 {
		return t
	}
	for _, x := range s.ByTarget {
		c := x.Counts
		orders := ""
		took := ""
		if x.OPMOf != nil {
			orders = numbers.Integer(x.OPMOf.Orders)
			took = seconds(x.OPMOf.Seconds)
		}
		row := []string{x.Target, opmOf(&x.OPM, nil), orders, took, numbers.Integer(c.Orders)}
		row = append(row, undone(words, numbers.Share(c.Of(words.Undone), c.Orders, 2))...)
		for _, x := range words.Added {
			row = append(row, numbers.Integer(c.Of(x.Count)))
		}
		t.row(
			append(
				row,
				numbers.Integer(c.Retries),
				numbers.Integer(c.Reconnects),
				numbers.Integer(c.GivenUp),
			)...)
	}
	return t
}

func disturbanceNotes(s result.Summary) (notes []string) {
	for _, d := range s.Disturbances {
		var events []string
		for _, n := range d.Events {
			events = append(events, fmt.Sprintf("event %d", n))
		}
		text := fmt.Sprintf(
			"%s at %s s",
			strings.Join(events, " and "),
			numbers.Decimals(d.From, 1),
		)
		if d.Unknown != "" {
			notes = append(notes, fmt.Sprintf("What %s did is unknown: %s.", text, d.Unknown))
			continue
		}
		text = fmt.Sprintf(
			"%s: %s %s lost",
			capital(text),
			opmOf(&d.Lost, d.LostCI95),
			s.Words.Cycles,
		)
		if d.LostCI95 != nil {
			text += " ± " + uncertainty(d.LostCI95)
		}
		text += fmt.Sprintf(
			" against %s %s before",
			numbers.Decimals(d.Undisturbed, 0),
			s.Words.Rate,
		)
		if d.Back != nil {
			text += fmt.Sprintf(", back within 5 %% after %s s", numbers.Decimals(*d.Back, 1))
		} else {
			text += ", not back within 5 % before the end of the run"
		}
		text += fmt.Sprintf(
			"; the longest %s took %s ms, %s.",
			s.Words.Cycle,
			figure(d.Longest),
			result.FailedAttemptsText(d.Errors),
		)
		notes = append(notes, text)
	}
	return notes
}

func eventTable(s result.Summary) table {
	t := newWords("Events", "event", "from", "to", "command", "failed")
	for i, e := range s.Events {
		from := numbers.Decimals(e.From, 1) + " s"
		to := numbers.Decimals(e.To, 1) + " s"
		t.row(fmt.Sprintf("event %d", i+1), from, to, e.Command, e.Error)
	}
	return t
}

package report

import (
	"fmt"

	"ds2/internal/result"
)

func scrubTable(s result.Summary) table {
	t := newTable("Background scan, over the whole run", "database", "MB/s asked for", "MB/s read", "requests/s",
		"bytes a request", "from the drives", "mean ms", "max ms", "passes", "failures")
	for _, r := range s.Scrub {
		requests := float64(r.Requests) / max(r.Seconds, 1e-9)
		t.row(r.Target, number(r.Rate/1e6, 3), number(r.PerSecond()/1e6, 3), number(requests, 2),
			integer(r.Bytes/max(r.Requests, 1)), fromDrives(r), figureOr(r.MeanMS), figureOr(r.MaxMS),
			integer(r.Passes), integer(r.Failures))
	}
	return t
}

// fromDrives is the share of what was read that no cache of the kernel had. The kernel reads ahead of what is asked
// for.
func fromDrives(r result.Scrub) string {
	if r.Device == nil {
		return "unknown"
	}
	return percent(min(*r.Device, r.Bytes), r.Bytes)
}

func debtTable(d *result.Debt) table {
	t := newTable("Deferred work, done after the run",
		"step", "database", "seconds", "reads", "writes", "MB read", "MB written")
	if d == nil || len(d.Steps) == 0 {
		return t
	}
	row := func(name, target string, took float64, io result.IO) {
		t.row(name, target, figure(took), orElse("unknown", io.Reads, 1, 0), orElse("unknown", io.Writes, 1, 0),
			orElse("unknown", io.ReadBytes, 1e-6, 1), orElse("unknown", io.WrittenBytes, 1e-6, 1))
	}
	for _, step := range d.Steps {
		row(step.Name, step.Target, step.Seconds, step.IO)
	}
	row("all", "", d.Seconds, d.IO)
	return t
}

func (v *view) findDebt(s result.Summary) {
	d := s.Debt
	if d == nil {
		return
	}
	text := "After the run the server needed %s s for its deferred work"
	if d.Error != "" {
		text = "After the run the server was at its deferred work for %s s, and did not get to the end"
	}
	text = fmt.Sprintf(text, figure(d.Seconds))
	rate := condition(result.RateWithDebt)(result.BenchRun{Conditions: s.Conditions})
	if rate != nil && s.Figure != nil {
		text += fmt.Sprintf(": over the time of both the result is %s %s", opmOf(rate, nil), s.Figure.Unit)
	}
	v.find(aside, text)
	switch {
	case d.Error != "":
		v.find(reservation, "Warning: not all of the deferred work was done: "+d.Error)
	case d.RowsAfter > 0:
		v.findf(reservation, "Warning: of %s removed or replaced rows, %s could not be cleaned: somebody may still "+
			"see them, such as a session in a transaction or a replication slot",
			integer(d.RowsBefore), integer(d.RowsAfter))
	default:
		v.findf(aside, "Of %s removed or replaced rows nothing was left", integer(d.RowsBefore))
	}
	if d.Older {
		v.find(aside, "No checkpoint was made before the run, "+
			"so that some of that work may be older (--checkpoint-first)")
	}
}

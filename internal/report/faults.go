package report

import (
	"fmt"
	"strings"
	"time"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// openLoopNote tells how an open loop kept up in the first window; empty for a closed one.
func openLoopNote(s result.Summary) string {
	if s.Parameters.Rate == 0 {
		return ""
	}
	w := s.Windows[0]
	text := fmt.Sprintf("Open loop of %s %s a second: %s fell due in the window, %s were completed and %s dropped; "+
		"response times count from when %s was due.", plain(s.Parameters.Rate), s.Words.Cycles,
		integer(w.Counts.Offered), integer(w.Counts.Orders), integer(w.Counts.Dropped), s.Words.A())
	if from := w.Latency[measure.WholeOrder].AtLeastFrom; from != nil {
		text += fmt.Sprintf(" Those that were dropped count with the time that they would have waited at least: "+
			"response times from the %.4gth percentile on, and the mean, are at least so long.", *from)
	}
	return text
}

// faultNote tells what a run went through, apart from rollbacks; empty where that was nothing.
func faultNote(s result.Summary) string {
	c, inDoubt := s.Counts, int64(0)
	var some []string
	for _, x := range s.Words.InDoubt {
		inDoubt += c.Of(x.Count)
		some = append(some, x.Words+" "+integer(c.Of(x.Count)))
	}
	if c.Reconnects+c.Retries+c.GivenUp+inDoubt == 0 {
		return ""
	}
	text := fmt.Sprintf("Errors over the whole run: retries %s, reconnects %s, %s given up %s",
		integer(c.Retries), integer(c.Reconnects), s.Words.Cycles, integer(c.GivenUp))
	if len(some) > 0 {
		text += "; in doubt, because their commit was cut off: " + strings.Join(some, ", ")
	}
	return text + "."
}

func targetTable(s result.Summary) table {
	words := s.Words
	t := newTable("Targets, over the whole run; cumulative "+words.Rate+" is from the end of the warm-up on",
		"target", "cumulative "+words.Rate, "of "+words.Cycles, "in", "all "+words.Cycles)
	t.Head = append(t.Head, undone(words, words.Undone)...)
	for _, x := range words.Added {
		t.Head = append(t.Head, x.Words)
	}
	t.Head = append(t.Head, "retries", "reconnects", "given up")
	if len(s.ByTarget) < 2 {
		return t
	}
	for _, x := range s.ByTarget {
		c, orders, took := x.Counts, "", ""
		if x.OPMOf != nil {
			orders, took = integer(x.OPMOf.Orders), seconds(x.OPMOf.Seconds)
		}
		row := []string{x.Target, opmOf(&x.OPM, nil), orders, took, integer(c.Orders)}
		row = append(row, undone(words, percent(c.Of(words.Undone), c.Orders))...)
		for _, x := range words.Added {
			row = append(row, integer(c.Of(x.Count)))
		}
		t.row(append(row, integer(c.Retries), integer(c.Reconnects), integer(c.GivenUp))...)
	}
	return t
}

func disturbanceNotes(s result.Summary) (notes []string) {
	for _, d := range s.Disturbances {
		text := fmt.Sprintf("%s at %s s", eventNames(d), number(d.From, 1))
		if d.Unknown != "" {
			notes = append(notes, fmt.Sprintf("What %s did is unknown: %s.", text, d.Unknown))
			continue
		}
		text = fmt.Sprintf("%s: %s %s lost", capital(text), opmOf(&d.Lost, d.LostCI95), s.Words.Cycles)
		if d.LostCI95 != nil {
			text += " ± " + uncertainty(d.LostCI95)
		}
		text += fmt.Sprintf(" against %s %s before", number(d.Undisturbed, 0), s.Words.Rate)
		if d.Back != nil {
			text += fmt.Sprintf(", back within 5 %% after %s s", number(*d.Back, 1))
		} else {
			text += ", not back within 5 % before the end of the run"
		}
		text += fmt.Sprintf("; the longest %s took %s ms, %s.", s.Words.Cycle, figure(d.Longest), failuresOf(d))
		notes = append(notes, text)
	}
	return notes
}

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

func eventTable(s result.Summary) table {
	t := newWords("Events", "event", "from", "to", "command", "failed")
	for i, e := range s.Events {
		t.row(fmt.Sprintf("event %d", i+1), number(e.From, 1)+" s", number(e.To, 1)+" s", e.Command, e.Error)
	}
	return t
}

// cutsNote says what the cuts of the server came to: "20 cuts, 1.2 million acknowledged, 0 lost: at most 14 % of cuts
// lose anything, at 95 %"; empty where there were none.
func cutsNote(c *result.Cuts) string {
	if c == nil || len(c.Cuts) == 0 {
		return ""
	}
	n := len(c.Cuts)
	text := integer(n) + " cuts"
	if n == 1 {
		text = "1 cut"
	}
	if n < c.Planned {
		text += " of " + integer(c.Planned)
	}
	text += fmt.Sprintf(", %s acknowledged, %s lost", millions(c.Acknowledged), integer(c.Lost))
	if c.Idle > 0 {
		text += fmt.Sprintf("; before %s of the cuts nothing was acknowledged, and they show nothing", integer(c.Idle))
	}
	switch from, to := share(c.From), share(c.To); {
	case c.Idle == n:
		return text + "."
	case c.Lossy == 0:
		return fmt.Sprintf("%s: at most %s of cuts lose anything, at 95 %%.", text, to)
	case c.Lossy == n-c.Idle:
		text += ", after each of them something"
		return fmt.Sprintf("%s: at least %s of cuts lose something, at 95 %%.", text, from)
	default:
		return fmt.Sprintf("%s, after %s of the cuts something: at least %s and at most %s of cuts lose something, "+
			"each at 95 %%.", text, integer(c.Lossy), from, to)
	}
}

// share is a probability in whole percent, with a digit more where that would say too little.
func share(p float64) string {
	if p < 0.1 {
		return number(100*p, 1) + " %"
	}
	return number(100*p, 0) + " %"
}

func millions(n int64) string {
	if n >= 1_000_000 {
		return number(float64(n)/1e6, 1) + " million"
	}
	return integer(n)
}

func cutTable(c *result.Cuts, words result.Words) table {
	t := newTable("Cuts of the server",
		"cut", "at UTC", "when", "acknowledged", "in doubt", "of them there", "lost", "what was lost")
	for _, x := range words.Losses {
		t.Head = append(t.Head, x.Words)
	}
	if words.Stale != "" {
		t.Head = append(t.Head, words.Stale)
	}
	t.Head = append(t.Head, "recovery", "bad pages")
	if c == nil {
		return t
	}
	for i, x := range c.Cuts {
		what := short(x.LostWhat)
		if x.Error != "" {
			what = strings.TrimSpace(what + " " + x.Error)
		}
		row := []string{integer(i + 1), x.At.UTC().Format(time.TimeOnly), x.When, integer(x.Acknowledged),
			integer(x.InDoubt), integer(x.Kept), integer(x.Lost), what}
		for _, loss := range words.Losses {
			row = append(row, integer(x.Own[loss.Count]))
		}
		if words.Stale != "" {
			row = append(row, integer(x.Stale))
		}
		t.row(append(row, number(x.Recovery, 2)+" s", known(x.BadPages, "–", integer))...)
	}
	return t
}

// short bounds a list of numbers in a table; the record has all of it.
func short(list string) string {
	const most = 60
	if len(list) <= most {
		return list
	}
	end := strings.LastIndex(list[:most], ", ")
	return list[:max(end, 0)] + ", …"
}

// replayNote says how long the server took to redo its log; empty where nobody tested that.
func replayNote(r *result.Replay) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf(
		"The server redid %s MB of log in %s s after it was killed: %s MB/s, %s s for a log file of 1 MiB.",
		megabytes(&r.Bytes), number(r.Seconds, 2), number(r.MBPerSecond, 1), number(r.SecondsPerMiB, 4))
}

func replayTable(r *result.Replay) table {
	t := list("Replay test")
	if r == nil {
		return t
	}
	t.add("log to be redone", "%s MB, asked for %s MB", megabytes(&r.Stood), megabytes(&r.Wanted))
	if r.To != "" {
		t.add("redone, by the server's log", "%s MB, from %s to %s", megabytes(&r.Bytes), r.From, r.To)
	} else {
		t.add("redone, by what stood shortly before the kill", "%s MB, from %s", megabytes(&r.Bytes), r.From)
	}
	if r.Analysis != nil {
		t.row("time of analysis, by the server's log", number(*r.Analysis, 3)+" s")
	}
	t.row("time of redo, by the server's log", number(r.Seconds, 2)+" s")
	if r.Undo != nil {
		t.row("time of undo, by the server's log", number(*r.Undo, 3)+" s")
	}
	t.row("rate", number(r.MBPerSecond, 1)+" MB/s")
	t.row("time for a log file of 1 MiB", number(r.SecondsPerMiB, 4)+" s")
	t.row("from the start command until the server answered", number(r.Recovery, 2)+" s")
	if len(r.Changed) > 0 {
		t.row("settings changed meanwhile", strings.Join(r.Changed, ", "))
	}
	return t
}

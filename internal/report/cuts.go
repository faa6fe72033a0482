package report

import (
	"fmt"
	"strings"

	"ds2/internal/result"
)

// cutsNote says what the cuts of the server came to: "20 cuts, 1.2 million acknowledged, 0 lost: at most 14 % of cuts lose
// anything, at 95 %"; empty where there were none.
func cutsNote(c *result.Cuts) string {
	if c == nil || len(c.Cuts) == 0 {
		return ""
	}
	n := len(c.Cuts)
	cuts := fmt.Sprintf("%s cuts", integer(int64(n)))
	if n == 1 {
		cuts = "1 cut"
	}
	if n < c.Planned {
		cuts += fmt.Sprintf(" of %s", integer(int64(c.Planned)))
	}
	lost := fmt.Sprintf("%s, %s acknowledged, %s lost", cuts, millions(c.Acknowledged), integer(c.Lost))
	if c.Idle > 0 {
		lost += fmt.Sprintf("; before %s of the cuts nothing was acknowledged, and they show nothing", integer(int64(c.Idle)))
	}
	switch {
	case c.Idle == n:
		return lost + "."
	case c.Lossy == 0:
		return fmt.Sprintf("%s: at most %s of cuts lose anything, at 95 %%.", lost, share(c.To))
	case c.Lossy == n-c.Idle:
		return fmt.Sprintf("%s, after each of them something: at least %s of cuts lose something, at 95 %%.", lost, share(c.From))
	}
	return fmt.Sprintf("%s, after %s of the cuts something: at least %s and at most %s of cuts lose something, each at 95 %%.", lost, integer(int64(c.Lossy)), share(c.From), share(c.To))
}

// share is a probability in whole percent, with a digit more where that would say too little.
func share(p float64) string {
	if p < 0.1 {
		return number(100*p, 1) + " %"
	}
	return number(100*p, 0) + " %"
}

// millions is a count as it is said.
func millions(n int64) string {
	if n >= 1_000_000 {
		return number(float64(n)/1e6, 1) + " million"
	}
	return integer(n)
}

// cutTable is each cut in a line.
func cutTable(c *result.Cuts, words result.Words) table {
	t := table{Caption: "Cuts of the server", Head: []string{"cut", "at UTC", "when", "acknowledged", "in doubt", "of them there", "lost", "what was lost"}}
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
		bad := "–"
		if x.BadPages != nil {
			bad = integer(*x.BadPages)
		}
		what := short(x.LostWhat)
		if x.Error != "" {
			what = strings.TrimSpace(what + " " + x.Error)
		}
		row := []string{integer(int64(i + 1)), x.At.UTC().Format("15:04:05"), x.When, integer(x.Acknowledged), integer(x.InDoubt), integer(x.Kept),
			integer(x.Lost), what}
		for _, loss := range words.Losses {
			row = append(row, integer(x.Own[loss.Count]))
		}
		if words.Stale != "" {
			row = append(row, integer(x.Stale))
		}
		t.Rows = append(t.Rows, append(row, number(x.Recovery, 2)+" s", bad))
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

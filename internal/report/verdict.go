package report

import (
	"fmt"
	"io"
	"strings"

	"ds2/internal/limit"
	"ds2/internal/store"
)

// verdictWord is a verdict in a table; the page shows the second one in the colour of failure.
func verdictWord(ok bool) string {
	if ok {
		return "ok"
	}
	return "FAILED"
}

func limitTable(verdicts []limit.Verdict) table {
	t := newTable("Limits, over the first window", "limit", "measured", "runs that hold it", "verdict")
	for _, v := range verdicts {
		held := ""
		if v.Runs > 1 {
			held = fmt.Sprintf("%d of %d", v.Held, v.Runs)
		}
		t.row(v.Limit, v.Value(), held, verdictWord(v.OK))
	}
	return t.trimmed()
}

// findLimits adds the verdict of limits, where there are any.
func (v *view) findLimits(verdicts []limit.Verdict) {
	switch {
	case len(verdicts) == 0:
	case limit.Passed(verdicts):
		v.find(proof, "Pass: every limit holds")
	default:
		v.find(failure, "FAIL: "+limit.Failed(verdicts))
	}
}

// deepCheckTable is what reading and checking every page gave, in the manner of Jetstress's checksum statistics.
func deepCheckTable(checks []store.DeepCheck) table {
	t := list("Deep check")
	for _, s := range checks {
		t.row("server", s.Server)
		read := fmt.Sprintf("%s MB of %d tables and indexes", megabytes(&s.Bytes), s.Objects)
		if s.Reading != nil {
			t.addReading(s, read)
		} else {
			t.add("read and checked", "%s, %s MB/s", read, mbPerSecond(s.Bytes, s.Seconds))
		}
		t.add("time", "%s s in all", number(s.Seconds, 1))
		checksums := "off: a changed byte is found only where it breaks the structure of a page, a row or an index"
		if s.Checksums {
			checksums = "verified on every page read from storage"
		}
		t.row("checksums", checksums)
		if len(s.Unchecked) > 0 {
			t.row("read, but not checked further", strings.Join(s.Unchecked, "; "))
		}
		switch l := s.Log; {
		case l == nil:
		case l.Unread != "":
			t.row("log", "not read: "+l.Unread)
		case l.Bad != "":
			t.row("log", verdictWord(false)+": "+l.Bad)
		default:
			t.add("log", "read to its end by %s, no error found", l.Method)
		}
		t.row("damage", verdictWord(len(s.Damage) == 0))
		for _, d := range s.Damage {
			t.row(strings.TrimSpace(d.Object+" "+d.Place), d.Found)
		}
	}
	return t
}

func (t *table) addReading(s store.DeepCheck, what string) {
	r := s.Reading
	t.add("read", "%s in %s s, %s MB/s", what, number(r.Seconds, 1), mbPerSecond(s.Bytes, r.Seconds))
	t.add("in the server's cache already", "%.0f %% of it", 100*float64(r.Cached)/float64(max(s.Bytes, 1)))
	if r.Device != nil {
		t.add("from the drives", "%s MB, %s MB/s, measured; the rest was in memory",
			megabytes(r.Device), mbPerSecond(*r.Device, r.Seconds))
	} else {
		t.row("from the drives", "not measured: the server's processes are not visible here, "+
			"and the page cache of its kernel may have held any part of it")
	}
	how := ""
	if r.Readers > 1 {
		how = fmt.Sprintf(", by %d readers", r.Readers)
	}
	if r.Rate > 0 {
		how += fmt.Sprintf(", at no more than %s MB/s together", number(r.Rate/1e6, 1))
	}
	t.add("read latency", "%s ms on average, %s ms at most, for up to %s KiB%s",
		figure(r.MeanMS), figure(r.MaxMS), integer(r.Size/1024), how)
	t.add("checked", "in %s s", number(s.Seconds-r.Seconds, 1))
}

func mbPerSecond(bytes int64, seconds float64) string {
	return number(store.MBPerSecond(bytes, seconds), 1)
}

// checksumTable is the table of Jetstress's checksum test: pages seen and bad, and how fast, a row a database, and its
// log.
func checksumTable(checks []store.DeepCheck) table {
	t := newTable("Checksum test", "what", "pages or records seen", "bad", "MB", "s", "MB/s", "reads/s", "ms a read")
	row := func(what, seen string, bad, bytes int64, took float64, reads, ms string) {
		t.row(what, seen, integer(bad), megabytes(&bytes), number(took, 1), mbPerSecond(bytes, took), reads, ms)
	}
	var pages, bad, bytes int64
	var took float64
	for _, c := range checks {
		damaged, seconds, reads, ms := int64(len(c.Damage)), c.Seconds, "–", "–"
		if r := c.Reading; r != nil {
			damaged, seconds, ms = r.Bad, r.Seconds, number(r.MeanMS, 3)
			if r.Seconds > 0 {
				reads = number(float64(r.Reads)/r.Seconds, 1)
			}
		}
		pages += c.Pages
		bad += damaged
		bytes += c.Bytes
		took += seconds
		row(c.Target, integer(c.Pages), damaged, c.Bytes, seconds, reads, ms)
	}
	if len(checks) > 1 {
		row("all databases", integer(pages), bad, bytes, took, "–", "–")
	}
	for _, c := range checks {
		l := c.Log
		if l == nil || l.Unread != "" {
			continue
		}
		faults, records := int64(0), "–"
		if l.Bad != "" {
			faults = 1
		}
		if l.Records > 0 {
			records = integer(l.Records)
		}
		row("log of "+c.Target, records, faults, l.Bytes, l.Seconds, "–", "–")
	}
	return t
}

// deepCheckNote says in a sentence whether pages are damaged; empty where they were not read.
func deepCheckNote(checks []store.DeepCheck) (level, string) {
	damages, bytes := 0, int64(0)
	for _, s := range checks {
		damages += len(s.Damage)
		if s.Log != nil && s.Log.Bad != "" {
			damages++
		}
		bytes += s.Bytes
	}
	switch {
	case len(checks) == 0:
		return aside, ""
	case damages == 0:
		return proof, fmt.Sprintf("Every page was read (%s MB), and no damage was found.", megabytes(&bytes))
	}
	return failure, fmt.Sprintf("The database is DAMAGED: %d errors were found when every page was read.", damages)
}

// DeepCheckText writes what reading and checking every page gave, for reading on a terminal.
func DeepCheckText(w io.Writer, checks []store.DeepCheck) error {
	_, err := io.WriteString(w, checksumTable(checks).text()+"\n"+deepCheckTable(checks).text())
	return err
}

package report

import (
	"fmt"
	"io"
	"strings"

	"ds2/internal/limit"
	"ds2/internal/result"
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
	t := table{Caption: "Limits, over the first window", Head: []string{"limit", "measured", "verdict"}}
	for _, v := range verdicts {
		t.Rows = append(t.Rows, []string{v.Limit, v.Value(), verdictWord(v.OK)})
	}
	return t
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

// crashNote says what the crash was; empty where there was none.
func crashNote(c *result.Crash) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("The server was killed at %s UTC and took connections again %.1f s later.", c.At.UTC().Format("15:04:05"), c.Down)
}

// deepCheckTable is what reading and checking every page gave, in the manner of Jetstress's checksum statistics.
func deepCheckTable(checks []store.DeepCheck) table {
	t := list("Deep check")
	add := t.add
	for _, s := range checks {
		add("server", "%s", s.Server)
		read := fmt.Sprintf("%s MB of %d tables and indexes", number(float64(s.Bytes)/1e6, 1), s.Objects)
		if r := s.Reading; r != nil {
			add("read", "%s in %s s, %s MB/s", read, number(r.Seconds, 1), number(store.MBPerSecond(s.Bytes, r.Seconds), 1))
			add("in the server's cache already", "%.0f %% of it", 100*float64(r.Cached)/float64(max(s.Bytes, 1)))
			if r.Device != nil {
				add("from the drives", "%s MB, %s MB/s, measured; the rest was in memory", number(float64(*r.Device)/1e6, 1), number(store.MBPerSecond(*r.Device, r.Seconds), 1))
			} else {
				add("from the drives", "not measured: the server's processes are not visible here, and the page cache of its kernel may have held any part of it")
			}
			how := ""
			if r.Readers > 1 {
				how = fmt.Sprintf(", by %d readers", r.Readers)
			}
			if r.Rate > 0 {
				how += fmt.Sprintf(", at no more than %s MB/s together", number(r.Rate/1e6, 1))
			}
			add("read latency", "%s ms on average, %s ms at most, for up to %s KiB%s", figure(r.MeanMS), figure(r.MaxMS), integer(r.Size/1024), how)
			add("checked", "in %s s", number(s.Seconds-r.Seconds, 1))
		} else {
			add("read and checked", "%s, %s MB/s", read, number(store.MBPerSecond(s.Bytes, s.Seconds), 1))
		}
		add("time", "%s s in all", number(s.Seconds, 1))
		checksums := "off: a changed byte is found only where it breaks the structure of a page, a row or an index"
		if s.Checksums {
			checksums = "verified on every page read from storage"
		}
		add("checksums", "%s", checksums)
		if len(s.Unchecked) > 0 {
			add("read, but not checked further", "%s", strings.Join(s.Unchecked, "; "))
		}
		if l := s.Log; l != nil {
			switch {
			case l.Unread != "":
				add("log", "not read: %s", l.Unread)
			case l.Bad != "":
				add("log", "%s: %s", verdictWord(false), l.Bad)
			default:
				add("log", "read to its end by %s, no error found", l.Method)
			}
		}
		add("damage", "%s", verdictWord(len(s.Damage) == 0))
		for _, d := range s.Damage {
			add(strings.TrimSpace(d.Object+" "+d.Place), "%s", d.Found)
		}
	}
	return t
}

// checksumTable is the table of Jetstress's checksum test: pages seen and bad, and how fast, a row a database, and its
// log.
func checksumTable(checks []store.DeepCheck) table {
	t := table{Caption: "Checksum test", Head: []string{"what", "pages or records seen", "bad", "MB", "s", "MB/s", "reads/s", "ms a read"}}
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
		pages, bad, bytes, took = pages+c.Pages, bad+damaged, bytes+c.Bytes, took+seconds
		t.Rows = append(t.Rows, []string{c.Target, integer(c.Pages), integer(damaged), megabytes(&c.Bytes), number(seconds, 1), number(store.MBPerSecond(c.Bytes, seconds), 1), reads, ms})
	}
	if len(checks) > 1 {
		t.Rows = append(t.Rows, []string{"all databases", integer(pages), integer(bad), megabytes(&bytes), number(took, 1), number(store.MBPerSecond(bytes, took), 1), "–", "–"})
	}
	for _, c := range checks {
		if l := c.Log; l != nil && l.Unread == "" {
			faults, records := int64(0), "–"
			if l.Bad != "" {
				faults = 1
			}
			if l.Records > 0 {
				records = integer(l.Records)
			}
			t.Rows = append(t.Rows, []string{"log of " + c.Target, records, integer(faults), megabytes(&l.Bytes), number(l.Seconds, 1), number(store.MBPerSecond(l.Bytes, l.Seconds), 1), "–", "–"})
		}
	}
	return t
}

// deepCheckNote says in a sentence whether pages are damaged; empty where they were not read.
func deepCheckNote(checks []store.DeepCheck) (sentence string, whole bool) {
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
		return "", true
	case damages == 0:
		return fmt.Sprintf("Every page was read (%s MB), and no damage was found.", number(float64(bytes)/1e6, 1)), true
	default:
		return fmt.Sprintf("The database is DAMAGED: %d errors were found when every page was read.", damages), false
	}
}

// DeepCheckText writes what reading and checking every page gave, for reading on a terminal.
func DeepCheckText(w io.Writer, checks []store.DeepCheck) error {
	_, err := io.WriteString(w, checksumTable(checks).text()+"\n"+deepCheckTable(checks).text())
	return err
}

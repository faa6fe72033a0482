package report

import (
	"fmt"
	"io"
	"strings"

	"ds2/internal/numbers"
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

// limitWord is a verdict on a limit in a table.
func limitWord(v result.Verdict) string {
	if v.CannotTell {
		return "cannot tell"
	}
	return verdictWord(v.OK)
}

func limitTable(verdicts result.Verdicts) table {
	t := newTable(
		"Limits, over the first window",
		"limit",
		"measured",
		"95 % interval",
		"runs that hold it",
		"verdict",
	)
	for _, v := range verdicts {
		held := ""
		if v.Runs > 1 {
			held = fmt.Sprintf("%d of %d", v.Held, v.Runs)
		}
		t.row(v.Limit, v.Value(), v.Interval(), held, limitWord(v))
	}
	return t
}

// deepCheckTable is what a deep check of each database found, and how fast it read, as a checksum
// test has it.
func deepCheckTable(checks []store.DeepCheck) table {
	t := list("Deep check")
	for _, s := range checks {
		t.row("server", s.Server)
		t.add(
			"read and checked",
			"%s MB of %d tables and indexes in %s s, %s MB/s, from drives or caches",
			megabytes(s.Bytes),
			s.Objects,
			numbers.Decimals(s.Seconds, 1),
			numbers.Decimals(s.BytesPerSecond()/1e6, 1),
		)
		if s.DriveReads != nil && s.DriveReadMean != nil {
			t.add("reads of the drives meanwhile", "%s a second, %s ms each",
				figure(*s.DriveReads), figure(1000**s.DriveReadMean))
		}
		checksums := "off: a changed byte is found only where it breaks the structure of a page, a row or an index"
		if s.Checksums {
			checksums = "verified on every page read from storage"
		}
		t.row("checksums", checksums)
		if s.ChecksumFailures != nil {
			t.row(
				"checksum failures that the server has counted",
				numbers.Integer(*s.ChecksumFailures),
			)
		}
		if len(s.Unchecked) > 0 {
			t.row("not checked", strings.Join(s.Unchecked, "; "))
		}
		t.row("damage", verdictWord(len(s.Damage) == 0))
		for _, d := range s.Damage {
			t.row(strings.TrimSpace(d.Object+" "+d.Place), d.Found)
		}
	}
	return t
}

// DeepCheckText writes what a deep check gave, for reading on a terminal.
func DeepCheckText(w io.Writer, checks []store.DeepCheck) error {
	_, err := fmt.Fprintln(w, strings.Join(deepCheckTable(checks).text(0), "\n"))
	return err
}

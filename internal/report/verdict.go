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

func limitTable(verdicts result.Verdicts) table {
	t := newTable(
		"Limits, over the first window",
		"limit",
		"measured",
		"runs that hold it",
		"verdict",
	)
	for _, v := range verdicts {
		held := ""
		if v.Runs > 1 {
			held = fmt.Sprintf("%d of %d", v.Held, v.Runs)
		}
		t.row(v.Limit, v.Value(), held, verdictWord(v.OK))
	}
	return t
}

// findLimits adds the verdict of limits, where there are any.
func (v *view) findLimits(verdicts result.Verdicts) {
	switch {
	case len(verdicts) == 0:
	case verdicts.Passed():
		v.find(proof, "Pass: every limit holds")
	default:
		v.find(failure, "FAIL: "+verdicts.Failed())
	}
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

// deepCheckNote says in a sentence whether the database is damaged; empty where it was not checked.
func deepCheckNote(checks []store.DeepCheck) (level, string) {
	damages := 0
	bytes := int64(0)
	for _, s := range checks {
		damages += len(s.Damage)
		bytes += s.Bytes
	}
	switch {
	case len(checks) == 0:
		return aside, ""
	case damages == 0:
		return proof, fmt.Sprintf(
			"All tables and indexes were checked, %s MB: no damage.",
			megabytes(bytes),
		)
	}
	return failure, fmt.Sprintf("The database is DAMAGED: the deep check found %d errors.", damages)
}

// DeepCheckText writes what a deep check gave, for reading on a terminal.
func DeepCheckText(w io.Writer, checks []store.DeepCheck) error {
	_, err := fmt.Fprintln(w, strings.Join(deepCheckTable(checks).text(), "\n"))
	return err
}

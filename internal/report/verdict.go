package report

import (
	"io"

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

// DeepCheckText writes what a deep check gave, for reading on a terminal.
func DeepCheckText(w io.Writer, checks []store.DeepCheck) error {
	return writeLines(w, fill("deep check", checks).text(0))
}

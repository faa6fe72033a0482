package report

import (
	"strings"

	"ds2/internal/result"
)

// logTable is the log of a run, where its workload has it in the report: the last lines of it.
func logTable(s result.Summary) table {
	t := table{Caption: "Log of the run", Head: []string{"at UTC", "message"}, Words: true}
	for _, line := range s.Log {
		at, message, _ := strings.Cut(line, " ")
		at, stamped := strings.CutPrefix(at, "time=")
		if !stamped {
			at, message = "", line
		}
		if _, clock, ok := strings.Cut(at, "T"); ok {
			at = strings.TrimSuffix(clock, "Z")
		}
		t.Rows = append(t.Rows, []string{at, message})
	}
	return t
}

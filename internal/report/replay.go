package report

import (
	"fmt"
	"strings"

	"ds2/internal/result"
)

// replayNote says how long the server took to redo its log; empty where nobody tested that.
func replayNote(r *result.Replay) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("The server redid %s MB of log in %s s after it was killed: %s MB/s, %s s for a log file of 1 MiB.",
		number(float64(r.Bytes)/1e6, 1), number(r.Seconds, 2), number(r.MBPerSecond, 1), number(r.SecondsPerMiB, 4))
}

// replayTable is a replay test.
func replayTable(r *result.Replay) table {
	t := list("Replay test")
	if r == nil {
		return t
	}
	add := t.add
	add("log to be redone", "%s MB, asked for %s MB", number(float64(r.Stood)/1e6, 1), number(float64(r.Wanted)/1e6, 1))
	if r.To != "" {
		add("redone, by the server's log", "%s MB, from %s to %s", number(float64(r.Bytes)/1e6, 1), r.From, r.To)
	} else {
		add("redone, by what stood shortly before the kill", "%s MB, from %s", number(float64(r.Bytes)/1e6, 1), r.From)
	}
	if r.Analysis != nil {
		add("time of analysis, by the server's log", "%s s", number(*r.Analysis, 3))
	}
	add("time of redo, by the server's log", "%s s", number(r.Seconds, 2))
	if r.Undo != nil {
		add("time of undo, by the server's log", "%s s", number(*r.Undo, 3))
	}
	add("rate", "%s MB/s", number(r.MBPerSecond, 1))
	add("time for a log file of 1 MiB", "%s s", number(r.SecondsPerMiB, 4))
	add("from the start command until the server answered", "%s s", number(r.Recovery, 2))
	if len(r.Changed) > 0 {
		add("settings changed meanwhile", "%s", strings.Join(r.Changed, ", "))
	}
	return t
}

package result

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ds2/internal/measure"
	"ds2/internal/numbers"
)

// Words are what a workload calls what its users do again and again: on the terminal, on the live
// page and in reports.
type Words struct {
	Cycle  string `json:"cycle"`  // "order"
	Cycles string `json:"cycles"` // "orders"
	Rate   string `json:"rate"`   // of cycles a minute: "OPM"
	// cycles that left nothing behind, which count too: "rollbacks", or none
	Undone string `json:"undone,omitempty"`
	Unit   string `json:"unit"` // of the figure that counts: OPM or IOPS

	// Own is the response time of a cycle without the operations that are outside of it, in the
	// workload's own meaning: "order as in DS2"; empty: it has none. Groups are operations that a
	// limit takes together, by the name that it has for them.
	Own    string              `json:"own,omitempty"`
	Groups map[string][]string `json:"groups,omitempty"`

	// Cumulative says more of the average since the end of the warm-up: ", which DS2 calls opm".
	Cumulative string `json:"cumulative,omitempty"`

	// counts that reports have besides those of cycles
	Added []CountWords `json:"added,omitempty"`
	// counts of what was done or not, because its commit was cut off
	InDoubt []CountWords `json:"in_doubt,omitempty"`
}

// CountWords are what a workload calls one of its counts.
type CountWords struct {
	Count string `json:"count"` // its name: "in_doubt_customers"
	Words string `json:"words"` // "new customers"
}

// A is the cycle with its article: "an order".
func (w Words) A() string { return withArticle(w.Cycle) }

func withArticle(noun string) string {
	if strings.IndexAny(noun, "aeiou") == 0 {
		return "an " + noun
	}
	return "a " + noun
}

// PerMinute is the rate, spelled out: "Orders per minute (OPM)".
func (w Words) PerMinute() string {
	first := min(len(w.Cycles), 1)
	return fmt.Sprintf("%s%s per minute (%s)", strings.ToUpper(w.Cycles[:first]), w.Cycles[first:],
		w.Rate)
}

// FailureWords tell what a run went through, apart from rollbacks; empty where it was nothing.
func FailureWords(s Summary) string {
	c := s.Counts
	inDoubt := int64(0)
	var some []string
	for _, x := range s.Words.InDoubt {
		inDoubt += c.Of(x.Count)
		some = append(some, x.Words+" "+numbers.Integer(c.Of(x.Count)))
	}
	if c.Reconnects+c.Retries+c.GivenUp+inDoubt == 0 && len(s.Errors) == 0 {
		return ""
	}
	text := fmt.Sprintf("errors over the whole run: %s; retries %s, reconnects %s, %s given up %s",
		FailedAttemptsText(s.Errors), numbers.Integer(c.Retries), numbers.Integer(c.Reconnects),
		s.Words.Cycles, numbers.Integer(c.GivenUp))
	if len(some) > 0 {
		text += "; in doubt, because their commit was cut off: " + strings.Join(some, ", ")
	}
	return text
}

// FailedAttemptsText are failed attempts by class, and the first error of the most frequent.
func FailedAttemptsText(all []measure.FailureCount) string {
	classes := map[string]int64{}
	most := measure.FailureCount{}
	for _, f := range all {
		classes[f.Class] += f.Count
		if f.Count > most.Count {
			most = f
		}
	}
	var some []string
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		some = append(some, class+" "+numbers.Integer(classes[class]))
	}
	if len(some) == 0 {
		return "no attempt failed"
	}
	text := "failed attempts: " + strings.Join(some, ", ")
	if most.Example != "" {
		text += fmt.Sprintf(" (the first of %s in %s: %s)", most.Class, most.Operation,
			most.Example)
	}
	return text
}

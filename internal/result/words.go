package result

import (
	"fmt"
	"strings"
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
	if strings.ContainsAny(noun[:min(len(noun), 1)], "aeiou") {
		return "an " + noun
	}
	return "a " + noun
}

// PerMinute is the rate, spelled out: "Orders per minute (OPM)".
func (w Words) PerMinute() string {
	first := min(len(w.Cycles), 1)
	return fmt.Sprintf(
		"%s%s per minute (%s)",
		strings.ToUpper(w.Cycles[:first]),
		w.Cycles[first:],
		w.Rate,
	)
}

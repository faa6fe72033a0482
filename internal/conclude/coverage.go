package conclude

import (
	"fmt"
	"maps"
	"slices"

	"ds2/internal/sampling"
)

// covered is whose figures cover only a part of the window.
type covered struct {
	sampling.Sampled
	whose string
}

// groups says whose the counters of a group are.
var groups = map[string]string{
	"client":  "ds2's own machine",
	"cpu":     "the CPUs",
	"db":      "the database",
	"disk":    "the drives",
	"file":    "the database's files",
	"memory":  "the memory",
	"network": "the network",
	"server":  "the server's processes",
	"power":   "the electric power",
	"scrub":   "the background scan",
}

// partly are the figures that samples cover a part of the window of. Those that cover the same are
// one.
func (v view) partly() (all []covered) {
	least := v.Counters.Partly(v.from, v.to)
	for _, group := range slices.Sorted(maps.Keys(least)) {
		s := least[group]
		i := slices.IndexFunc(all, func(c covered) bool { return c.Covers == s.Covers })
		if i < 0 {
			all = append(all, covered{s, groups[group]})
			continue
		}
		all[i].whose += " and " + groups[group]
	}
	return all
}

// coverage warns of them.
func (v view) coverage() (all []string) {
	for _, c := range v.partly() {
		then := "what is said of them is of that time alone"
		if c.Unknown() {
			then = "they are unknown, and nothing is judged by them"
		}
		all = append(all, fmt.Sprintf("the samples of %s cover %.0f of %.0f s of the window: %s",
			c.whose, c.Covers, c.Of, then))
	}
	return all
}

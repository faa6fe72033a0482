package conclude

import (
	"maps"
	"math"
	"slices"

	"ds2/internal/result"
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
	"volume":  "the volumes over drives",
	"file":    "the database's files",
	"memory":  "the memory",
	"network": "the network",
	"server":  "the server's processes",
	"power":   "the electric power",
	"scrub":   "the background scan",
}

// findPartlyCovered are the figures that samples cover a part of the window of. Those that cover
// the same are one.
func (v view) findPartlyCovered() (all []covered) {
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

// judgeSamples is what the samples lack, and what they show besides the run.
func (v view) judgeSamples() (all []result.Finding) {
	if w := v.window; w.Still > 0 {
		all = append(all, result.NewFinding(result.StoodLong, "").
			With("seconds", math.Round(w.LongestStill)).With("share", w.Still))
	}
	// PostgreSQL tells when it loaded its settings; of other servers a sum over their values
	// changes.
	reloads := v.countSamples(sampling.DatabaseSettingsLoaded, func(_, seconds float64) bool {
		return seconds > 0
	}) + v.countSamples(sampling.DatabaseSettingsSum, func(was, sum float64) bool {
		return sum > was || sum < was // not NaN
	})
	if reloads > 0 {
		all = append(all, result.NewFinding(result.SettingsReloaded, "").With("times", reloads))
	}
	for _, c := range v.findPartlyCovered() {
		kind := result.PartlyCovered
		if c.Unknown() {
			kind = result.Uncovered
		}
		all = append(all, result.NewFinding(kind, c.whose).
			With("covers", math.Round(c.Covers)).With("window", math.Round(c.Of)))
	}
	if s, err := v.drives().Storage(); err == nil && s.Others > 0 {
		all = append(all, result.NewFinding(result.OtherIO, "").With("ios", s.Others))
	}
	return all
}

// countSamples is how many samples of the window, of all items of a column, are so, with the one
// before.
func (v view) countSamples(column string, isSo func(was, now float64) bool) (n float64) {
	for _, item := range v.Counters.Items(column) {
		was := math.NaN()
		for i, now := range v.Counters.Values(item) {
			// A sample stands for the second before it. The one that ends as the window begins is
			// not of the window, and yet what the first of the window is compared with.
			at := v.Counters.Rows[i].Time
			if at.After(v.from) && !at.After(v.to) && isSo(was, now) {
				n++
			}
			if !math.IsNaN(now) {
				was = now
			}
		}
	}
	return n
}

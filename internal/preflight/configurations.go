package preflight

import (
	"strings"

	"ds2/internal/result"
)

// Planned is a configuration of an experiment before its first run.
type Planned struct {
	Name  string
	Setup result.Setup // what its runs would record of themselves and of what they measure
	// Databases are the labels of its targets, by what tells a database from every other.
	Databases map[string]string
}

// Alike looks whether the configurations of an experiment are alike but for what the subject names,
// and whether two that are named unlike are one database: that would be measured against itself.
func Alike(all []Planned, subject []string) (found []Finding) {
	var setups []result.Setup
	for i, one := range all {
		setups = append(setups, one.Setup)
		for _, other := range all[:i] {
			// One database under one name is meant: configurations may differ in a flag alone.
			for id, label := range one.Databases {
				if same := other.Databases[id]; same != "" && same != label {
					both := same + " of " + other.Name + " and " + label + " of " + one.Name
					found = append(found, NewFinding(oneDatabase, "", both))
				}
			}
		}
	}
	// Each is held against the first, as the comparison of their results does.
	differing := result.FindDiffering(setups, result.Compare)
	for i := range all {
		var names []string
		for _, d := range differing {
			if text := d.Between(0, i); text != "" && !result.Declares(subject, d.Name) {
				names = append(names, text)
			}
		}
		if len(names) > 0 {
			both := all[0].Name + " and " + all[i].Name
			found = append(found, NewFinding(unlike, both, strings.Join(names, "; ")))
		}
	}
	// A subject that nothing varies in is most likely a setting that was never made. One that only
	// a run shows, such as its fill of the cache, cannot be judged before it.
	for _, name := range subject {
		differs := false
		for _, d := range differing {
			differs = differs || result.Declares([]string{name}, d.Name)
		}
		known := len(setups) > 0 && setups[0].Knows(name)
		if !differs && known && len(all) > 1 {
			found = append(found, NewFinding(subjectAlike, "", name))
		}
	}
	return found
}

package compare

import (
	"fmt"
	"slices"
	"strings"

	"ds2/internal/result"
)

// Setup is what the runs of a configuration were to be, and what they were measured on, by the
// first whose record is there. That they differ among each other is a finding of its own. That of a
// history is of its last day.
func (c Configuration) Setup() result.Setup {
	if last := len(c.Days) - 1; last >= 0 {
		return c.Days[last].Setup()
	}
	s := result.Setup{Spec: c.Spec}
	for _, r := range Counted(c.Bench) {
		if r.Environment != nil {
			s.Environment = *r.Environment
			break
		}
	}
	return s
}

// setupsOf are those of configurations.
func setupsOf(all []Configuration) (setups []result.Setup) {
	for _, one := range all {
		setups = append(setups, one.Setup())
	}
	return setups
}

// findUnlike finds in what the configurations differ from the first that ought to be alike. What is
// declared may differ, and within an experiment what that declares.
func (c *Comparison) findUnlike(declared []string) {
	first := c.Configurations[0]
	use := result.Compare
	if first.Days != nil {
		use = result.History
	}
	c.Differing = result.FindDiffering(setupsOf(c.Configurations), use)
	for i, other := range c.Configurations[1:] {
		subject := declared
		if other.Experiment != "" && other.Experiment == first.Experiment {
			subject = slices.Concat(declared, other.Subject)
		}
		var unlike []string
		for k, d := range c.Differing {
			switch text := d.Between(0, i+1); {
			case text == "":
			case result.Declares(subject, d.Name):
				c.Differing[k].Declared = true
			default:
				unlike = append(unlike, text)
			}
		}
		if len(unlike) > 0 {
			c.add(result.Unlike, result.NameSome(unlike, "; "), other.Name, first.Name)
		}
	}
}

// CheckSubject is an error where a name that is declared to differ is of nothing that the records
// of configurations know.
func CheckSubject(all []Configuration, subject []string) error {
	setups := setupsOf(all)
	for _, name := range subject {
		if !slices.ContainsFunc(setups, func(s result.Setup) bool { return s.Knows(name) }) {
			var differ []string
			for _, d := range result.FindDiffering(setups, result.Compare) {
				differ = append(differ, d.Name)
			}
			return fmt.Errorf("no record has %q; these records differ in %s", name,
				strings.Join(differ, ", "))
		}
	}
	return nil
}

// unlikeRuns finds that the runs of a configuration were not all measured on the same; nothing
// where they were, as far as their records are there.
func unlikeRuns(counted []result.BenchRun) []result.Finding {
	var setups []result.Setup
	for _, r := range counted {
		if r.Environment != nil {
			setups = append(setups, result.Setup{Environment: *r.Environment})
		}
	}
	others := map[int]bool{} // runs that differ from the first
	var texts []string
	for _, d := range result.FindDiffering(setups, result.Compare) {
		if d.May && setups[0].Environment.StorageClass != "" {
			continue // a new volume and its node are drawn for each run
		}
		var values []string
		for i, value := range d.Values {
			if value == "" {
				continue
			}
			if values = result.AddNew(values, value); value != values[0] {
				others[i] = true
			}
		}
		texts = append(texts, d.Name+" "+strings.Join(values, " and "))
	}
	if len(texts) == 0 {
		return nil
	}
	return []result.Finding{result.NewFinding(result.RunsUnlike, result.NameSome(texts, "; ")).
		With("runs", float64(len(others))).With("of_runs", float64(len(counted)))}
}

package result

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// Experiment is the summary.json of an experiment: a directory that holds a bench for each configuration. What was measured is in the benches.
type Experiment struct {
	Head
	KitVersion   string    `json:"kit_version"`
	ExperimentID string    `json:"experiment_id"`
	Status       Status    `json:"status"`
	Error        string    `json:"error,omitempty"`
	Start        time.Time `json:"start"`
	End          time.Time `json:"end,omitzero"`

	Order string `json:"order"` // OrderRandom or OrderSequence
	Seed  uint64 `json:"seed"`  // of the order and, where nothing else is said, of the runs
	// Least and Most are how many runs of each configuration are to count; fewer than Most where the intervals are within
	// Until before.
	Least int     `json:"runs_least"`
	Most  int     `json:"runs_most"`
	Until float64 `json:"until_pct,omitempty"` // percent points on either side of a difference

	Configurations []ExperimentConfiguration `json:"configurations"`
}

// The orders in which an experiment makes its runs.
const (
	OrderRandom   = "random"   // in blocks, in each of which every configuration has one run that counts
	OrderSequence = "sequence" // all runs of one configuration, then those of the next
)

// ExperimentConfiguration is one of the configurations that an experiment compares.
type ExperimentConfiguration struct {
	Name   string            `json:"name"`
	Dir    string            `json:"dir"` // of its bench, within the experiment's directory
	Labels map[string]string `json:"labels,omitempty"`
	// Disclosure is what was stated of the array, by the keys in Disclosures.
	Disclosure map[string]string `json:"disclosure,omitempty"`
	Settings   []Setting         `json:"settings"` // that differ between the configurations
}

// Setting is a flag of drive or bench, and its value without passwords.
type Setting struct {
	Flag  string `json:"flag"`
	Value string `json:"value"`
}

// check says what is wrong with the summary of an experiment.
func (e *Experiment) check() error {
	if !slices.Contains(statuses, e.Status) {
		return fmt.Errorf("its status is %q, which is none", e.Status)
	}
	if len(e.Configurations) == 0 {
		return errors.New("it has no configuration")
	}
	for i, c := range e.Configurations {
		if !filepath.IsLocal(c.Dir) || c.Dir == "." {
			return fmt.Errorf("the directory %q of a configuration does not lie in it", c.Dir)
		}
		if slices.ContainsFunc(e.Configurations[:i], func(o ExperimentConfiguration) bool { return o.Name == c.Name || o.Dir == c.Dir }) {
			return fmt.Errorf("it has two configurations %q in %q", c.Name, c.Dir)
		}
	}
	return nil
}

package compare

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"ds2/internal/conclude"
	"ds2/internal/result"
)

// Configuration is one thing compared: a bench, or a single run taken for one.
type Configuration struct {
	Name string `json:"name"`
	Dir  string `json:"dir"`
	result.Bench
	Labels string `json:"-"` // that an experiment gives it: "6 SSDs, RAID 5"
	// what of the experiment's file it is, and with which values of its factors
	Of      string           `json:"-"`
	Factors []result.Setting `json:"-"`
	Subject []string         `json:"-"` // that its experiment declares to differ
	Read    conclude.Reader  `json:"-"` // of its runs
	// Days are what a history is made of, with one value each; not nil: it is one.
	Days []Configuration `json:"-"`

	unfinished bool // so is the experiment that it is of
}

// Half is half the width of the interval of the result, from run to run or, of a single run, within
// it.
func (c Configuration) Half() *float64 { return cmp.Or(c.RunsCI95, c.CI95()) }

// DirName is what a record goes by that has no other name: that of its directory, also where it is
// "."
func DirName(dir string) string {
	if path, err := filepath.Abs(dir); err == nil {
		dir = path
	}
	return filepath.Base(dir)
}

// ReadConfigurations reads what the arguments of a comparison name, DIR or NAME=DIR: benches, runs
// as benches of one, and experiments for all of their configurations.
func ReadConfigurations(
	read conclude.Reader,
	arguments []string,
) (all []Configuration, out []result.Finding, err error) {
	for _, argument := range arguments {
		name, dir, named := strings.Cut(argument, "=")
		if !named {
			name = DirName(argument)
			dir = argument
		}
		opened, err := Open(read, dir)
		if err != nil {
			return nil, nil, err
		}
		one := Configuration{Name: name, Dir: dir, Read: read}
		switch record := opened.(type) {
		case result.Experiment:
			e, err := NewExperiment(read, dir, record)
			if err != nil {
				return nil, nil, err
			}
			for _, c := range e.Comparison.Configurations {
				if named {
					c.Name = name + ": " + c.Name
				}
				all = append(all, c)
			}
			out = append(out, e.withoutResult()...)
			continue
		case result.Bench:
			one.Bench = record
			one.Subject = subjectAround(dir, record)
			one.unfinished = record.Experiment != "" && record.Status == result.Failed
		case *result.Record:
			one.Bench = Single(record.Summary)
		default:
			return nil, nil, fmt.Errorf("compare %s: it holds no bench, run or experiment", dir)
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("compare %s: no configuration has a run that counts",
			strings.Join(arguments, ", "))
	}
	return distinct(all), out, oneFigure(all)
}

// subjectAround is what the experiment that a bench lies in declares to differ; nothing where it
// was taken out of it.
func subjectAround(dir string, b result.Bench) []string {
	if b.Experiment == "" {
		return nil
	}
	around, err := result.ReadSummary[result.Experiment](filepath.Join(dir, ".."))
	if err != nil || around.ExperimentID != b.Experiment {
		return nil
	}
	return around.Subject
}

// distinct has configurations that share a name, as runs of two benches do, go by their
// directories.
func distinct(all []Configuration) []Configuration {
	times := map[string]int{}
	for _, c := range all {
		times[c.Name]++
	}
	for i, c := range all {
		if times[c.Name] > 1 {
			all[i].Name = c.Dir
		}
	}
	return all
}

// oneFigure is an error where the figures of configurations are not of one kind, as those of two
// workloads are not.
func oneFigure(all []Configuration) error {
	for _, c := range all[1:] {
		if first := all[0]; c.Unit() != first.Unit() {
			return fmt.Errorf("compare %s and %s: the result of one is in %s, of the other in %s; "+
				"compare runs of one workload", first.Name, c.Name, first.Unit(), c.Unit())
		}
	}
	return nil
}

// Comparison is configurations next to each other, and by how much each differs from the first.
type Comparison struct {
	Configurations []Configuration `json:"configurations"`
	Differences    []Difference    `json:"differences"`
	// Equal are the differences of the main figure over all values of an experiment's factors,
	// each against the same value.
	Equal []Equal `json:"at_equal_factors,omitempty"`
	// Differing is in what the configurations differ, whether it may or not.
	Differing []result.Differing `json:"differing,omitempty"`
	// of the ratios, where storage held a configuration back
	Parts    []Parts          `json:"parts,omitempty"`
	Gates    []GateVerdict    `json:"gates,omitempty"`
	Findings []result.Finding `json:"findings,omitempty"` // of all configurations, and its own
}

// Words are those of the first configuration: others are of the same workload, or a warning says
// so.
func (c Comparison) Words() result.Words { return c.Configurations[0].Words }

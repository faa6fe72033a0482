package compare

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ds2/internal/conclude"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// Experiment is the record of an experiment and what its configurations come to.
type Experiment struct {
	result.Experiment
	Comparison Comparison           `json:"comparison"` // of those that have a run that counts
	Pairs      []measure.Difference `json:"pairs"`      // of OPM between every two, by blocks
	Benches    []Configuration      `json:"-"`          // all that were begun
	Name       string               `json:"-"`
}

// NewExperiment reads the benches of the experiment in a directory, and compares its
// configurations.
func NewExperiment(
	read conclude.Reader,
	dir string,
	record result.Experiment,
) (e Experiment, err error) {
	e = Experiment{Experiment: record, Name: DirName(dir)}
	some := []Configuration{}
	looks := 1.
	for _, c := range e.Configurations {
		one := Configuration{
			Name:       c.Name,
			Dir:        filepath.Join(dir, c.Dir),
			Read:       read,
			Of:         c.Of,
			Factors:    c.Factors,
			Subject:    record.Subject,
			unfinished: record.Status != result.Done,
		}
		one.Bench, err = result.ReadSummary[result.Bench](one.Dir)
		if errors.Is(err, result.ErrNone) { // it has not begun
			continue
		}
		if err == nil {
			err = again(read, one.Dir, &one.Bench)
		}
		if err != nil {
			return e, err
		}
		var labels []string
		for _, name := range slices.Sorted(maps.Keys(c.Labels)) {
			labels = append(labels, c.Labels[name])
		}
		one.Labels = strings.Join(labels, ", ")
		e.Benches = append(e.Benches, one)
		if one.Figure != nil {
			some = append(some, one)
			// The intervals hold together, so each pays for the one that was looked at most often.
			looks = max(looks, looksOf(one))
		}
	}
	e.Comparison = WithFirst(some)
	e.Comparison.Findings = append(e.Comparison.Findings, e.withoutResult()...)
	e.Pairs = []measure.Difference{}
	// Runs one configuration after the other have no blocks: a drift would be a difference.
	if e.Order == result.OrderRandom {
		e.Comparison.Equal = AtEqualFactors(some, looks)
		e.Comparison.findEqual()
		names, figures := inBlocks(some)
		e.Pairs = append(
			e.Pairs,
			measure.Differences(names, figures, measure.EveryTwo(len(names)), looks)...)
	}
	return e, nil
}

// withoutResult are the findings of the configurations that have no run that counts.
func (e Experiment) withoutResult() (all []result.Finding) {
	for _, c := range e.Benches {
		if c.Figure == nil {
			all = append(all, named(c)...)
		}
	}
	return all
}

// Looks are after how many blocks the result could be seen, before the experiment was done and when
// it was.
func (e Experiment) Looks() (early, late []int) {
	var all []measure.Look
	for _, c := range e.Benches {
		if len(c.Looks) > len(all) {
			all = c.Looks
		}
	}
	for _, l := range all {
		if l.Done {
			late = append(late, l.Blocks)
		} else {
			early = append(early, l.Blocks)
		}
	}
	return early, late
}

// Stated is what the configurations are compared by: OPM, IOPS, or response times.
func (e Experiment) Stated() string {
	if len(e.Benches) == 0 {
		return result.OPM
	}
	return e.Benches[0].Title(StatedOf(e.Benches))
}

// Narrow says whether every interval of a difference reaches at most n percent points from its
// estimate, with the last block and without it; never where a run has no ratio to others.
func Narrow(all []Configuration, percent float64) bool {
	names, figures := inBlocks(all)
	return len(all) > 1 && len(names) == len(all) &&
		measure.Enough(names, figures, percent, measure.Looks(true, all[0].Looks, true))
}

// inBlocks are the results by blocks of the configurations that have a ratio to others.
func inBlocks(all []Configuration) (names []string, figures []measure.RunFigure) {
	for _, c := range all {
		if v := valuesOf(c, StatedOf(all).Of); v.noRatio() == "" {
			names = append(names, c.Name)
			figures = append(figures, v.byBlock()...)
		}
	}
	return names, figures
}

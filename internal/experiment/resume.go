package experiment

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ds2/internal/atomicfile"
	"ds2/internal/result"
	"ds2/internal/runs"
)

// How a bench, an experiment and a search go on: in a directory that holds one with the same setup,
// whether it was interrupted or crashed. In a directory that is empty or not there, a new one
// begins; any other is refused with a DirError.

// DirError says why nothing can be begun or continued in a directory.
type DirError struct{ error }

func (e *DirError) Unwrap() error { return e.error }

// findLeft finds what was left in dir, read by read; where there is nothing, a new one may begin
// there. Nothing is changed.
func findLeft[T any](dir string, read func(string) (T, error)) (left T, found bool, err error) {
	left, err = read(dir)
	found = !errors.Is(err, result.ErrNone)
	if !found {
		err = result.CheckDir(dir)
	}
	if err != nil {
		err = &DirError{err}
	}
	return left, found, err
}

// refuseUnlike refuses to continue what is left in dir, such as a bench, where it differs in
// something from what is asked for: figures of two setups have no mean.
func refuseUnlike(dir, what string, differences []string) error {
	if len(differences) == 0 {
		return nil
	}
	return &DirError{fmt.Errorf("%s holds %s with another setup: %s; give the same flags to the "+
		"same ds2 to continue it, or another directory", dir, what,
		strings.Join(differences, "; "))}
}

// ClearUp removes what a ds2 that was killed left half-written in dir. Whoever calls it holds the
// locks of the databases: without them another ds2 may be writing there.
func ClearUp(dir string) error {
	return result.OfRecord("continue in "+dir, atomicfile.RemoveLeft(dir))
}

// Check is an error where nothing of what read reads can be begun or continued in dir, as far as
// that can be told before its databases are opened.
func Check[T any](dir string, read func(string) (T, error)) error {
	_, _, err := findLeft(dir, read)
	return err
}

// TakeUpBench takes up the bench in the directory of its runs' options, or begins one, while the
// databases are locked. Unless a seed is given, the runs get the one with which the bench began.
func TakeUpBench(o *runs.Options, seedGiven bool) (result.Bench, error) {
	left, found, err := findLeft(o.Dir, result.ReadSummary[result.Bench])
	switch {
	case err != nil:
		return left, err
	case !found:
		return result.Bench{Spec: o.Asked(), Start: time.Now()}, result.MakeDir(o.Dir)
	case !seedGiven:
		o.Seed = left.Seed
	}
	if err := refuseUnlike(o.Dir, "a bench", listDiffering(left.Spec, o.Asked())); err != nil {
		return left, err
	}
	// The directory's runs have the ID that the bench began with.
	o.RunID = left.RunID
	left.Spec = o.Asked()
	return left, ClearUp(o.Dir)
}

// listDiffering says in what two structs differ of which the one is continued as the other.
func listDiffering[T any](left, now T) (texts []string) {
	for _, d := range result.Differences(left, now, result.Resume) {
		texts = append(texts, fmt.Sprintf("%s %s, now %s", d.Name, d.Values[0], d.Values[1]))
	}
	return texts
}

// TakeUpExperiment takes up the experiment in dir, or gives the new one, whose directory is not
// made yet. One that has made no run is begun anew. Unless a seed is given, it goes on with its
// own.
func TakeUpExperiment(
	dir string, begun result.Experiment, seedGiven bool,
) (e result.Experiment, resumed bool, err error) {
	left, found, err := findLeft(dir, result.ReadSummary[result.Experiment])
	if err != nil || !found || !hasRuns(dir, left) {
		return begun, found, err
	}
	var names []string // of what differs
	if left.KitVersion != begun.KitVersion {
		names = append(names,
			fmt.Sprintf("kit version %s, now %s", left.KitVersion, begun.KitVersion))
	}
	if left.Order != begun.Order {
		names = append(names, "order")
	}
	if seedGiven && left.Seed != begun.Seed {
		names = append(names, "seed")
	}
	same := func(a, b result.Configuration) bool {
		return a.Name == b.Name && a.Dir == b.Dir && slices.Equal(a.Settings, b.Settings)
	}
	if !slices.EqualFunc(left.Configurations, begun.Configurations, same) {
		names = append(names, "configurations")
	}
	left.Subject = begun.Subject // which judges what was measured, and changes nothing of it
	// they only say how long to go on
	left.Least = begun.Least
	left.Most = begun.Most
	left.Until = begun.Until
	return left, true, refuseUnlike(dir, "an experiment", names)
}

// hasRuns says whether any configuration of an experiment has begun with a run.
func hasRuns(dir string, e result.Experiment) bool {
	return slices.ContainsFunc(e.Configurations, func(c result.Configuration) bool {
		_, err := result.ReadSummary[result.Bench](filepath.Join(dir, c.Dir))
		return !errors.Is(err, result.ErrNone)
	})
}

// TakeUp has the search go on where the one in its directory ended, or begin, while the databases
// are locked. One that is done is refused: a search again of the same may come to another result.
// Unless a seed is given, it goes on with the seed that it began with.
func (s *Search) TakeUp(seedGiven bool) error {
	left, found, err := findLeft(s.Dir, result.ReadSummary[result.Search])
	switch {
	case err != nil:
		return err
	case !found:
		return result.MakeDir(s.Dir)
	case !seedGiven:
		s.Options.Seed = left.Seed
	}
	names := listDiffering(left.Spec, s.Options.Asked())
	names = append(names, listDiffering(left.SearchConfig, s.Config)...)
	if err := refuseUnlike(s.Dir, "a search", names); err != nil {
		return err
	}
	if left.Status == result.Done || left.Status == "" {
		return &DirError{fmt.Errorf("the search in %s is over: ds2 report shows it; give another "+
			"directory for a new one", s.Dir)}
	}
	s.left = left
	s.Options.RunID = left.RunID
	return ClearUp(s.Dir)
}

// Made is how many trials were made before.
func (s *Search) Made() int { return len(s.left.Trials) }

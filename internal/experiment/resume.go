package experiment

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"ds2/internal/atomicfile"
	"ds2/internal/result"
	"ds2/internal/runs"
)

// How a bench, an experiment and a search go on: in a directory that holds one with the same setup, whether it was
// interrupted or crashed. In a directory that is empty or not there, a new one begins; any other is refused with a
// DirError.

// DirError says why nothing can be begun or continued in a directory.
type DirError struct{ error }

func (e *DirError) Unwrap() error { return e.error }

// takeUp is what was left in dir, read by read; nil where a new one may begin there. What it is, such as a bench, is
// for the error; unlike names the settings in which the one that is asked for differs.
func takeUp[T any](dir, what string, read func(string) (T, error), unlike func(T) []string) (*T, error) {
	left, err := read(dir)
	if errors.Is(err, result.ErrNone) {
		if err := result.CheckDir(dir); err != nil {
			return nil, &DirError{err}
		}
		return nil, nil
	}
	if err != nil {
		return nil, &DirError{err}
	}
	if names := unlike(left); len(names) > 0 {
		return nil, &DirError{fmt.Errorf("%s holds %s with another setup: %s; give the same flags to continue it, or "+
			"another directory", dir, what, strings.Join(names, ", "))}
	}
	if err := atomicfile.RemoveLeft(dir); err != nil {
		return nil, fmt.Errorf("continue in %s: %w", dir, err)
	}
	return &left, nil
}

// alike is for who looks before the setup is known.
func alike[T any](T) []string { return nil }

// CheckBench is an error where no bench can be begun or continued in dir, as far as that can be told before its
// databases are opened.
func CheckBench(dir string) error {
	_, err := takeUp(dir, "a bench", result.ReadSummary[result.Bench], alike)
	return err
}

// CheckSearch is CheckBench for a search.
func CheckSearch(dir string) error {
	_, err := takeUp(dir, "a search", result.ReadSummary[result.Search], alike)
	return err
}

// makeDir makes the directory of something new.
func makeDir(dir string) error {
	err := result.MakeDir(dir)
	if errors.Is(err, result.ErrNotEmpty) {
		return &DirError{err}
	}
	return err
}

// TakeUpBench takes up the bench in the directory of its runs' options, or begins one; setup is what these options do
// not say. Unless a seed is given, they get the one with which the bench began.
func TakeUpBench(o *runs.Options, setup result.Setup, seedGiven bool) (result.Bench, error) {
	left, err := takeUp(o.Dir, "a bench", result.ReadSummary[result.Bench], func(left result.Bench) []string {
		if !seedGiven {
			o.Driver.Seed = left.Setup.Seed
		}
		return differences(left.Setup, setupOf(*o, setup))
	})
	if err != nil {
		return result.Bench{}, err
	}
	setup = setupOf(*o, setup)
	if left == nil {
		b := result.Bench{KitVersion: o.Version, Command: o.Command, BenchID: o.RunID, Start: time.Now(), Setup: setup}
		return b, makeDir(o.Dir)
	}
	o.RunID = left.BenchID
	left.Command = o.Command
	judging(&left.Setup, setup)
	return *left, nil
}

// setupOf adds to a setup what the options of its runs say.
func setupOf(o runs.Options, setup result.Setup) result.Setup {
	s := runs.Summarize(o)
	setup.Engine, setup.Targets, setup.Size, setup.Threads = s.Engine, s.Targets, s.Size, s.Threads
	setup.Seed, setup.Parameters, setup.Limits = s.Seed, s.Parameters, s.LimitTexts
	return setup
}

// judging has a setup take over from another what changes no run: how many are made, which count, and what is stated of
// the array.
func judging(s *result.Setup, from result.Setup) {
	s.Parameters.Disclosure = from.Parameters.Disclosure
	s.Runs, s.DropUnsteady = from.Runs, from.DropUnsteady
}

// differences names the fields in which two setups differ, but for those that only judge.
func differences(a, b result.Setup) []string {
	judging(&a, b)
	return differing(reflect.ValueOf(a), reflect.ValueOf(b))
}

// differing names the fields in which two structures differ, by their names in records; those of what the workload
// alone reads by the names that reports have for them.
func differing(x, y reflect.Value) (names []string) {
	for i := range x.NumField() {
		a, b := x.Field(i).Interface(), y.Field(i).Interface()
		if reflect.DeepEqual(a, b) {
			continue
		}
		name, _, _ := strings.Cut(x.Type().Field(i).Tag.Get("json"), ",")
		switch a := a.(type) {
		case result.Parameters:
			b := b.(result.Parameters)
			if !slices.Equal(a.InWords, b.InWords) { // the same in words
				a.Own = b.Own
			}
			names = append(names, differing(reflect.ValueOf(a), reflect.ValueOf(b))...)
		case []result.Said:
			b := b.([]result.Said)
			for _, said := range slices.Concat(a, b) {
				if slices.Contains(a, said) != slices.Contains(b, said) && !slices.Contains(names, said.Name) {
					names = append(names, said.Name)
				}
			}
		default:
			names = append(names, name)
		}
	}
	return names
}

// TakeUpExperiment takes up the experiment in dir, or gives the new one, whose directory is not made yet. One that has
// made no run is begun anew. Unless a seed is given, it goes on with its own.
func TakeUpExperiment(
	dir string, begun result.Experiment, seedGiven bool,
) (e result.Experiment, resumed bool, err error) {
	read := result.ReadSummary[result.Experiment]
	left, err := takeUp(dir, "an experiment", read, func(left result.Experiment) (names []string) {
		if !hasRuns(dir, left) {
			return nil
		}
		if left.Order != begun.Order {
			names = append(names, "order")
		}
		if seedGiven && left.Seed != begun.Seed {
			names = append(names, "seed")
		}
		same := func(a, b result.ExperimentConfiguration) bool {
			return a.Name == b.Name && a.Dir == b.Dir && slices.Equal(a.Settings, b.Settings)
		}
		if !slices.EqualFunc(left.Configurations, begun.Configurations, same) {
			names = append(names, "configurations")
		}
		return names
	})
	if err != nil || left == nil || !hasRuns(dir, *left) {
		return begun, left != nil, err
	}
	left.Least, left.Most, left.Until = begun.Least, begun.Most, begun.Until // they only say how long to go on
	return *left, true, nil
}

// hasRuns says whether any configuration of an experiment has begun with a run.
func hasRuns(dir string, e result.Experiment) bool {
	return slices.ContainsFunc(e.Configurations, func(c result.ExperimentConfiguration) bool {
		_, err := result.ReadSummary[result.Bench](filepath.Join(dir, c.Dir))
		return !errors.Is(err, result.ErrNone)
	})
}

// TakeUp has the search go on where the one in its directory ended, or begin. One that is done is refused: a search
// again of the same may come to another result. Unless a seed is given, it goes on with the seed that it began with.
func (s *Search) TakeUp(seedGiven bool) (err error) {
	s.left, err = takeUp(s.Dir, "a search", result.ReadSummary[result.Search], func(left result.Search) []string {
		if !seedGiven {
			s.Options.Driver.Seed = left.Seed
		}
		now := s.begin()
		names := differing(reflect.ValueOf(setupOfSearch(left)), reflect.ValueOf(setupOfSearch(now)))
		return append(names, differing(reflect.ValueOf(left.Config), reflect.ValueOf(now.Config))...)
	})
	switch {
	case err != nil:
		return err
	case s.left == nil:
		return makeDir(s.Dir)
	case s.left.Status == result.Done || s.left.Status == "":
		return &DirError{fmt.Errorf("the search in %s is over: ds2 report shows it; give another directory for a new "+
			"one", s.Dir)}
	}
	return nil
}

// setupOfSearch is what the trials of a search have in common.
func setupOfSearch(s result.Search) result.Setup {
	return result.Setup{
		Engine: s.Engine, Targets: s.Targets, Size: s.Size, Seed: s.Seed, Parameters: s.Parameters,
		Restore: s.Restore, Limits: s.Limits,
	}
}

// Made is how many trials were made before.
func (s *Search) Made() int {
	if s.left == nil {
		return 0
	}
	return len(s.left.Trials)
}

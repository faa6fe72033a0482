package main

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ds2/internal/conclude"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// assumedScatter is that of runs of which there is no record, in percent.
const assumedScatter = 2

// scatter is by how many percent runs of the file's configurations scatter, by records of the same in the directories
// given, and in those beside the experiment's own; how says of what that is known.
func (f *experimentFile) scatter(dir string, given []string) (percent float64, how string, err error) {
	parent := filepath.Dir(dir)
	beside, _ := fs.Glob(os.DirFS(parent), "*") // none where there is no such directory yet
	for i, name := range beside {
		beside[i] = filepath.Join(parent, name)
	}
	var values [][]float64
	var from []string
	runs := 0
	for _, at := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(given, beside)))) {
		benches, err := benchesIn(at)
		if err != nil && slices.Contains(given, at) {
			return 0, "", usageError("%s: take the scatter of runs from it: %w", at, err)
		}
		for _, b := range benches {
			var of []float64
			for _, r := range conclude.Counted(b) {
				of = append(of, r.Figure.Value)
			}
			made := func(c *fileConfiguration) bool { return c.made(b.Setup) }
			if len(of) > 0 && slices.ContainsFunc(f.configurations, made) {
				values, runs = append(values, of), runs+len(of)
				from = append(from, at)
			}
		}
	}
	if percent = measure.Scatter(values); math.IsNaN(percent) {
		return assumedScatter, "which is assumed: there are too few records of runs of the same configurations", nil
	}
	in := strings.Join(slices.Compact(from), ", ")
	return percent, fmt.Sprintf("that of %d runs of the same configurations, in %s", runs, in), nil
}

// benchesIn are those of an experiment's directory, or the bench in it.
func benchesIn(dir string) ([]result.Bench, error) {
	dirs := []string{dir}
	if e, err := result.ReadSummary[result.Experiment](dir); err == nil {
		dirs = nil
		for _, c := range e.Configurations {
			dirs = append(dirs, filepath.Join(dir, c.Dir))
		}
	}
	var all []result.Bench
	for _, at := range dirs {
		b, err := result.ReadSummary[result.Bench](at)
		if err != nil && len(dirs) == 1 {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// made says whether a bench was one of the configuration: the same users on the same databases for the same time.
func (c *fileConfiguration) made(b result.Setup) bool {
	stores, err := c.bench.open()
	if err != nil {
		return false
	}
	defer closeStores(stores)
	run, p := c.bench.config, b.Parameters
	return slices.Equal(labels(stores), b.Targets) && b.Threads == run.Threads && p.RunTime == run.Run.Seconds() &&
		p.WarmupTime == run.Warmup.Seconds() && p.ThinkTime == run.Think.Seconds() && p.Rate == run.Arrivals.Rate
}

// inAfternoon is how long a run of the afternoon's profile takes at most, without restore and audit.
func inAfternoon() (each time.Duration) {
	for _, p := range profiles {
		if p.name != "afternoon" {
			continue
		}
		for _, value := range p.values {
			d, err := time.ParseDuration(value)
			if err != nil {
				panic(err) // it stands in the table
			}
			each += d
		}
	}
	return each
}

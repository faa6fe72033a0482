package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"ds2/internal/experiment"
	"ds2/internal/measure"
	"ds2/internal/numbers"
	"ds2/internal/result"
	"ds2/internal/upkeep"
)

// usualVariation is by how many percent runs of one configuration vary on a quiet server.
const usualVariation = 2

// plan prints the order of the runs, the time that is left, and what they can show.
func (f *experimentFile) plan(w io.Writer, dir string) error {
	record, _, err := f.takeUp(dir)
	if err != nil {
		return err
	}
	var all []*experiment.Bench
	practice := 0
	for _, c := range f.configurations {
		b, err := result.ReadSummary[result.Bench](filepath.Join(dir, c.Dir))
		if err != nil && !errors.Is(err, result.ErrNone) {
			return err
		}
		b.Spec.Runs = f.runs.Most
		b.Practice = c.bench.Practice
		practice += b.Practice
		all = append(all, &experiment.Bench{Name: c.Name, Summary: b, Planned: c.bench.planned()})
	}
	whole := f.experiment(record.Seed, all)
	made, runs, left := whole.Left()
	to := screenOn(w)
	defer to.flush()
	say := func(format string, args ...any) { fmt.Fprintf(to, format, args...) }
	say("records: %s\n", dir)
	say("configurations: %d\n", len(all))
	if whole.Sequence {
		say("order: sequence, %d runs each\n", f.runs.Most)
		for _, c := range all {
			say("  %s\n", c.Name)
		}
	} else {
		say("order: random, seed %d", record.Seed)
		if f.seed == 0 && record.Status == "" {
			say("; the real run will use another order; to keep this one, add seed: %d",
				record.Seed)
		}
		say("\n")
		for i, order := range whole.Orders {
			names := mapped(order, func(c int) string { return all[c].Name })
			say("  block %*d: %s\n", len(fmt.Sprint(len(whole.Orders))), i+1,
				strings.Join(names, "; "))
		}
	}
	discarded := "no practice runs"
	if practice > 0 {
		discarded = fmt.Sprintf("the first %d are practice and discarded", practice)
	}
	say("runs: %d, %d done; %s\n", runs, made, discarded)
	var warm time.Duration // of all that are left, at most
	var procedures []string
	of := map[string][]string{} // the configurations of each
	for k, c := range f.configurations {
		warm = max(warm, time.Duration(runs-made)*c.bench.WarmWithin.Duration)
		procedure := c.bench.procedureWords()
		if took, known := all[k].Beside(); known {
			procedure += "; restore and audit took " + timeWords(took.Round(time.Second)) + " on average"
		}
		if of[procedure] == nil {
			procedures = append(procedures, procedure)
		}
		of[procedure] = append(of[procedure], c.Name)
	}
	for _, procedure := range procedures {
		whose := ""
		if len(procedures) > 1 {
			whose = " of " + strings.Join(of[procedure], "; ")
		}
		say("each run%s: %s\n", whose, procedure)
	}
	most := ""
	if f.until > 0 {
		most = "at most "
		say(
			"it stops after %d blocks or more, when the 95 %% interval of every difference is within %g %%\n",
			max(f.runs.Least, measure.MinBlocks+1),
			f.until,
		)
	}
	switch paired := len(all) > 1 && !whole.Sequence; {
	case paired && f.runs.Most < measure.MinBlocks:
		say("warning: %d blocks are too few for confidence intervals: they take %d\n", f.runs.Most,
			measure.MinBlocks)
	case paired:
		least := measure.Smallest(usualVariation, len(all), f.runs.Most, f.until > 0)
		say(
			"if runs vary by %d %%, as on a quiet server, this experiment has an 80 %% chance of "+
				"detecting a difference of %s %%\n",
			usualVariation,
			numbers.Worth(least, least),
		)
	}
	most += left.Round(time.Second).String()
	if warm > 0 {
		most += " to " + (left + warm).Round(time.Second).String()
	}
	say("time left: %s, plus restores and audits not timed yet\n", most)
	return nil
}

// procedureWords says what each run of a bench consists of.
func (f *benchFlags) procedureWords() string {
	restore := ""
	if f.restore.RestoreName() != upkeep.RestoreNone {
		restore = "restore, "
	}
	warm := ""
	if f.WarmWithin.Duration > 0 {
		warm = " and up to " + timeWords(f.WarmWithin.Duration) + " until the store is warm"
	}
	counted := "whole checkpoint cycles count, else the run phase"
	if len(f.WindowTexts) > 0 {
		counted = "counted over " + f.WindowTexts[0]
	}
	return fmt.Sprintf("%ssettle %s, idle %s, users %s%s (%s), cool down %s, audit", restore,
		timeWords(f.Settle.Duration), timeWords(f.Idle.Duration), timeWords(f.length()), warm,
		counted, timeWords(f.Cooldown.Duration))
}

package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
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
	// The benches have no databases: they are asked only for what is left of them.
	whole := f.experiment(record.Seed, all)
	made, runs, left := whole.Left()
	data := map[string]any{
		"Dir":       dir,
		"Names":     mapped(all, func(b *experiment.Bench) string { return b.Name }),
		"Sequence":  whole.Sequence,
		"Most":      f.runs.Most,
		"Seed":      record.Seed,
		"Unsettled": f.seed == 0 && record.Status == "",
		"Runs":      runs,
		"Made":      made,
		"Practice":  practice,
		"Until":     f.until,
		// the intervals are asked with the last block and without it
		"Least":  max(f.runs.Least, measure.MinBlocks+1),
		"Varies": usualVariation,
		"Left":   left.Round(time.Second),
	}
	var blocks []string
	for i, order := range whole.Orders {
		names := mapped(order, func(c int) string { return all[c].Name })
		blocks = append(blocks, fmt.Sprintf("block %*d: %s", len(fmt.Sprint(len(whole.Orders))), i+1,
			strings.Join(names, "; ")))
	}
	data["Blocks"] = blocks
	var warm time.Duration // of all that are left, at most
	// Configurations that differ in their times have each a line; most have one in common.
	var procedures []*procedure
	for k, c := range f.configurations {
		warm = max(warm, time.Duration(runs-made)*c.bench.WarmWithin.Duration)
		words := c.bench.procedureWords()
		if took, known := all[k].Beside(); known {
			words += "; restore and audit took " + timeWords(took.Round(time.Second)) + " on average"
		}
		at := slices.IndexFunc(procedures, func(p *procedure) bool { return p.Words == words })
		if at < 0 {
			at = len(procedures)
			procedures = append(procedures, &procedure{Words: words})
		}
		procedures[at].Names = append(procedures[at].Names, c.Name)
	}
	data["Procedures"] = procedures
	if warm > 0 {
		data["Longest"] = (left + warm).Round(time.Second)
	}
	// In sequence a slow change of the server would count as a difference, so nothing is promised.
	switch paired := len(all) > 1 && !whole.Sequence; {
	case paired && f.runs.Most < measure.MinBlocks:
		data["TooFew"] = measure.MinBlocks
	case paired:
		least := measure.Smallest(usualVariation, len(all), f.runs.Most, f.until > 0)
		data["Shows"] = numbers.Worth(least, least)
	}
	to := screenOn(w)
	defer to.flush()
	return templates.ExecuteTemplate(to, "plan.tmpl", data)
}

// procedure is what each run of some configurations consists of.
type procedure struct {
	Words string
	Names []string
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

package runs

import (
	"context"
	"fmt"
	"math"
	"time"

	"ds2/internal/result"
	"ds2/internal/store"
)

// scrubTolerance is by how much a scrub's rate may miss what was asked for.
const scrubTolerance = 0.1

// backgroundWarnings say where what was to be read beside the users was not.
func backgroundWarnings(s result.Summary) (all []string) {
	for _, r := range s.Scrub {
		switch rate := r.PerSecond(); {
		case r.Error != "":
			all = append(all, fmt.Sprintf("the background scan of %s failed %d times, the last: %s", r.Target, r.Failures, r.Error))
		case math.Abs(rate-r.Rate) > scrubTolerance*r.Rate:
			all = append(all, fmt.Sprintf("the background scan of %s read %.3g MB/s of the %.3g MB/s asked for", r.Target, rate/1e6, r.Rate/1e6))
		}
		if r.Passes == 0 {
			all = append(all, fmt.Sprintf("the background scan of %s made no whole pass through the database, so the run does not say what a scan costs: make the run longer, or the scan faster", r.Target))
		}
	}
	for _, r := range s.Copies {
		if r.Error != "" {
			all = append(all, fmt.Sprintf("a reader of the log of %s failed %d times, the last: %s", r.Target, r.Failures, r.Error))
		}
	}
	return all
}

// cloned are the labels of targets that were copied as clones. Of a database that says nothing of itself nobody knows.
func cloned(ctx context.Context, targets []store.Database) (labels []string) {
	for _, target := range targets {
		if info, err := store.ReadInfo(ctx, target.DB()); err == nil && info[store.InfoClone] != "" {
			labels = append(labels, target.Label())
		}
	}
	return labels
}

// cloneWarnings say what the run of a clone measures.
func cloneWarnings(s result.Summary) (all []string) {
	for _, label := range s.Cloned {
		all = append(all, fmt.Sprintf("%s: overwrites are copied: its files may share blocks with its snapshot's (--clone), and where they do, what is overwritten first goes elsewhere "+
			"on the drive, and the figures hold the file system's work; restore it without --clone to measure the drive alone", label))
	}
	return all
}

// mostFaults is how many lines a record has of what a server noted of failed I/Os.
const mostFaults = 5

// watchFaults has the targets look for failed and very slow I/Os from now on. Its end gives a warning for each.
func (r *Run) watchFaults(ctx context.Context) (end func(ctx context.Context) []string) {
	var all []func(ctx context.Context) []string
	for _, target := range r.options.Targets {
		look := target.Can().IOFaults
		if look == nil {
			continue
		}
		since, err := look(ctx)
		if err != nil {
			r.log.Info("I/O errors are not looked for", "target", target.Label(), "error", err)
			continue
		}
		all = append(all, func(ctx context.Context) (warnings []string) {
			found, err := since(ctx)
			if err != nil {
				return []string{fmt.Sprintf("whether %s noted I/O errors in the run is not known: %v", target.Label(), err)}
			}
			for i, fault := range found {
				if i == mostFaults {
					return append(warnings, fmt.Sprintf("%s noted %d I/O errors more", target.Label(), len(found)-i))
				}
				warnings = append(warnings, fmt.Sprintf("%s noted in the run: %s", target.Label(), fault))
			}
			return warnings
		})
	}
	return func(ctx context.Context) (warnings []string) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		for _, end := range all {
			warnings = append(warnings, end(ctx)...)
		}
		return warnings
	}
}

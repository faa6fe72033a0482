package runs

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"ds2/internal/result"
)

// noticed is what showed while a run went on.
type noticed []result.Finding

// note adds a finding, unless several targets of a server say the same.
func (n *noticed) note(kind result.FindingKind, format string, args ...any) {
	f := result.NewFinding(kind, fmt.Sprintf(format, args...))
	if !slices.ContainsFunc(*n, func(o result.Finding) bool { return reflect.DeepEqual(o, f) }) {
		*n = append(*n, f)
	}
}

// scrubTolerance is by how much a scrub's rate may miss what was asked for.
const scrubTolerance = 0.1

// findScan finds where a background scan did not read what it was to.
func (n *noticed) findScan(s result.Summary) {
	for _, r := range s.Scrub {
		switch rate := r.PerSecond(); {
		case r.Error != "":
			n.note(
				result.ScanMissed,
				"the background scan of %s failed %d times, the last: %s",
				r.Target,
				r.Failures,
				r.Error,
			)
		case math.Abs(rate-r.Rate) > scrubTolerance*r.Rate:
			n.note(
				result.ScanMissed,
				"the background scan of %s read %.3g MB/s of the %.3g MB/s asked for",
				r.Target,
				rate/1e6,
				r.Rate/1e6,
			)
		}
		if r.Passes == 0 {
			n.note(
				result.ScanMissed,
				"the background scan of %s made no whole pass through the database, so the run does not say what a "+
					"scan costs: make the run longer, or the scan faster",
				r.Target,
			)
		}
	}
}

// mostFaults is how many lines a record has of what a server noted of failed I/Os.
const mostFaults = 5

// FaultFinder is an engine of servers that note failed and very slow I/Os of a database's files.
type FaultFinder interface {
	// IOFaults looks for them from now on: since gives those, a line each. It is nil where there is
	// nowhere to look; unseen says where it does not look, and why.
	IOFaults(
		ctx context.Context,
	) (since func(ctx context.Context) ([]string, error), unseen error)
}

// watchFaults has the targets look for failed and very slow I/Os from now on. Its end gives a
// finding for each.
func (r *Run) watchFaults(ctx context.Context) (end func(ctx context.Context) noticed) {
	targets := r.options.Targets
	all := make([]func(context.Context) ([]string, error), len(targets))
	unseen := make([]error, len(targets))
	for i, target := range targets {
		if engine, ok := target.(FaultFinder); ok {
			all[i], unseen[i] = engine.IOFaults(ctx)
		}
	}
	return func(ctx context.Context) (w noticed) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		for i, since := range all {
			label := targets[i].Label()
			if unseen[i] != nil {
				w.note(
					result.IOErrors,
					"not all that %s notes of I/O errors is known: %v",
					label,
					unseen[i],
				)
			}
			if since == nil {
				continue
			}
			found, err := since(ctx)
			if err != nil {
				w.note(
					result.IOErrors,
					"whether %s noted I/O errors in the run is unknown: %v",
					label,
					err,
				)
			}
			for _, fault := range found[:min(len(found), mostFaults)] {
				w.note(result.IOErrors, "%s noted in the run: %s", label, fault)
			}
			if more := len(found) - mostFaults; more > 0 {
				w.note(result.IOErrors, "%s noted %d I/O errors more", label, more)
			}
		}
		return w
	}
}

package runs

import (
	"context"
	"fmt"
	"time"

	"ds2/internal/result"
)

// noticed is what showed while a run went on.
type noticed []result.Finding

// note adds a finding.
func (n *noticed) note(kind result.FindingKind, format string, args ...any) {
	*n = append(*n, result.NewFinding(kind, fmt.Sprintf(format, args...)))
}

// mostFaults is how many lines a record has of what a server noted of failed I/Os.
const mostFaults = 5

// FaultFinder is an engine of servers that note failed and very slow I/Os of a database's files.
type FaultFinder interface {
	// IOFaults looks for them from now on: since gives those, a line each. It is nil where there is
	// nowhere to look; unseen says where it does not look, and why.
	IOFaults(ctx context.Context) (since func(ctx context.Context) ([]string, error), unseen error)
}

// watchFaults has the targets look for failed and very slow I/Os from now on. Its end gives a
// finding for each.
func (r *Run) watchFaults(ctx context.Context) (end func(ctx context.Context) noticed) {
	targets := r.options.Databases
	all := make([]func(context.Context) ([]string, error), len(targets))
	unseen := make([]error, len(targets))
	for i, target := range targets {
		if engine, ok := target.(FaultFinder); ok {
			all[i], unseen[i] = engine.IOFaults(ctx)
		}
	}
	return func(ctx context.Context) (w noticed) {
		// A server that does not answer must not hold up the end of a run.
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		for i, since := range all {
			note := func(format string, args ...any) {
				f := result.NewFinding(result.IOErrors, fmt.Sprintf(format, args...))
				w = append(w, f.About(targets[i].Label()))
			}
			if unseen[i] != nil {
				note("not all that it notes of I/O errors is known: %v", unseen[i])
			}
			if since == nil {
				continue
			}
			found, err := since(ctx)
			if err != nil {
				note("whether it noted I/O errors in the run is unknown: %v", err)
			}
			// A drive that fails can fill a log: a few lines say what it is, and the rest how many.
			for _, fault := range found[:min(len(found), mostFaults)] {
				note("it noted in the run: %s", fault)
			}
			if more := len(found) - mostFaults; more > 0 {
				note("it noted %d I/O errors more", more)
			}
		}
		return w
	}
}

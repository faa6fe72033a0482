package experiment

import (
	"context"
	"fmt"

	"ds2/internal/result"
	"ds2/internal/store"
)

// Scrub has every target check itself to the last page, one after the other. Those done before an error are returned
// with it.
func Scrub(ctx context.Context, targets []store.Store, tell func(store.ScrubProgress)) ([]store.Scrub, error) {
	var all []store.Scrub
	for _, target := range targets {
		s, ok := target.(store.Scrubber)
		if !ok {
			return all, fmt.Errorf("scrub %s: %s cannot be checked to the last page", target.Label(), target.Engine())
		}
		found, err := s.Scrub(ctx, tell)
		if err != nil {
			return all, target.Wrap("scrub "+target.Label(), err)
		}
		all = append(all, found)
	}
	return all, nil
}

// Scrub does so with the run's targets, and adds what was found to the record. It follows Drive.
func (r *Run) Scrub(ctx context.Context, tell func(store.ScrubProgress)) ([]store.Scrub, error) {
	scrubs, err := Scrub(ctx, r.options.Driver.Targets, tell)
	if err != nil {
		return scrubs, err
	}
	r.summary.Scrubs = scrubs
	return scrubs, result.SaveSummary(r.options.Dir, r.summary)
}

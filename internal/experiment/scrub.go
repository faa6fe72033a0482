package experiment

import (
	"context"
	"fmt"

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

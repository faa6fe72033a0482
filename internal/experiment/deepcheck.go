package experiment

import (
	"context"
	"fmt"

	"ds2/internal/progress"
	"ds2/internal/store"
)

// DeepCheck has every target check itself to the last page, one after the other. Those done before an error are returned
// with it.
func DeepCheck(ctx context.Context, targets []store.Store, how store.DeepReading, tell progress.Tell) ([]store.DeepCheck, error) {
	var all []store.DeepCheck
	for _, target := range targets {
		s, ok := target.(store.DeepChecker)
		if !ok {
			return all, fmt.Errorf("deep check %s: %s cannot be checked to the last page", target.Label(), target.Engine())
		}
		found, err := s.DeepCheck(ctx, how, tell)
		if err != nil {
			return all, target.Wrap("deep check "+target.Label(), err)
		}
		found.Target = target.Label()
		all = append(all, found)
	}
	return all, nil
}

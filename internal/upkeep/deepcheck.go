package upkeep

import (
	"context"

	"ds2/internal/durability"
	"ds2/internal/progress"
	"ds2/internal/store"
)

// DeepCheck has every target check itself to the last page, one after the other. Those done before an error are
// returned with it.
func DeepCheck(
	ctx context.Context, targets []store.Database, how store.DeepReading, tell progress.Tell,
) (all []store.DeepCheck, err error) {
	for _, target := range targets {
		found, err := durability.DeepCheck(ctx, target, how, tell)
		if err != nil {
			return all, err
		}
		all = append(all, found)
	}
	return all, nil
}

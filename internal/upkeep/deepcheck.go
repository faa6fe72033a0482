package upkeep

import (
	"context"

	"ds2/internal/progress"
	"ds2/internal/store"
)

// DeepCheck has every target check itself to the last page, one after the other. Those done before an error are
// returned with it.
func DeepCheck(
	ctx context.Context, targets []store.Database, tell progress.Tell,
) (all []store.DeepCheck, err error) {
	for _, target := range targets {
		check := target.Can().DeepCheck
		if check == nil {
			return all, store.Cannot(target, "deep checks")
		}
		found, err := check(ctx, tell)
		if err != nil {
			return all, target.Wrap("deep check "+target.Label(), err)
		}
		found.Target = target.Label()
		all = append(all, found)
	}
	return all, nil
}

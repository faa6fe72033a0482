package upkeep

import (
	"context"

	"ds2/internal/monitor"
	"ds2/internal/progress"
	"ds2/internal/sampling"
	"ds2/internal/store"
)

// DeepChecker is an engine that can have a server check a database to the last page.
type DeepChecker interface {
	// DeepCheck reads every page of every table and index by the server's own means, and checks
	// what it reads. Damage is no error: it stands in the result, and the check goes on after it.
	// The result so far is returned with an error too. The database should be at rest: some checks
	// keep writers waiting.
	DeepCheck(ctx context.Context, tell progress.Tell) (store.DeepCheck, error)

	// MayDeepCheck is an error where the server or the user's rights do not allow it. Nothing is
	// changed.
	MayDeepCheck(ctx context.Context) error
}

// DeepCheck has every target check itself to the last page, one after the other, and says what its
// drives did meanwhile, as far as they are observed. Those done before an error are returned with
// it.
func DeepCheck(
	ctx context.Context,
	targets []store.Database,
	observer *monitor.Observer,
	tell progress.Tell,
) (all []store.DeepCheck, err error) {
	for _, target := range targets {
		engine, ok := target.(DeepChecker)
		if !ok {
			return all, store.Unsupported(target, "deep checks")
		}
		var found store.DeepCheck
		check := func() (err error) {
			found, err = engine.DeepCheck(ctx, tell)
			return err
		}
		reads, mean, err := sampling.ReadsDuring(ctx, observer.Sources, observer.Machine, check)
		found.DriveReads = reads
		found.DriveReadMean = mean
		if err != nil {
			return all, target.Wrap("deep check "+target.Label(), err)
		}
		found.Target = target.Label()
		all = append(all, found)
	}
	return all, nil
}

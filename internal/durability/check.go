package durability

import (
	"context"

	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
)

// Check compares the journals of one run, of which each driver machine has one, with what a target holds.
func Check(
	ctx context.Context, w workload.Acknowledger, target store.Database, paths []string, of workload.Noted,
) ([]result.Check, error) {
	var all []byte
	for _, path := range paths {
		more, err := Read(path, w)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return w.CheckJournal(ctx, target, all, of)
}

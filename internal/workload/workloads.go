package workload

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ds2/internal/store"
)

// Workloads are those that there are, by name. The command line hands it down; nothing else chooses
// a workload.
type Workloads map[string]Workload

// Names are the names of all, sorted.
func (w Workloads) Names() []string {
	return slices.Sorted(maps.Keys(w))
}

// Of is the workload of a database, by what it notes of itself.
func (w Workloads) Of(info store.Info) (Workload, error) {
	if found, ok := w[info.Workload()]; ok {
		return found, nil
	}
	known := strings.Join(w.Names(), " and ")
	return nil, fmt.Errorf("its workload is %s, and this ds2 knows %s: use a newer ds2",
		info.Workload(), known)
}

// patience is how long a database may take to say whose it is.
const patience = 30 * time.Second

// Ask asks a database whose it is. Its load has come to its end.
func (w Workloads) Ask(ctx context.Context, target store.Database) (Workload, store.Info, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	info, err := store.ReadInfo(ctx, target.DB())
	if err != nil {
		return nil, nil, target.Wrap("look at "+target.Label(), err)
	}
	var found Workload
	if err = info.CheckReady(); err == nil {
		found, err = w.Of(info)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("look at %s: %w", target.Label(), err)
	}
	return found, info, nil
}

package ds2

import (
	"context"
	"errors"
	"fmt"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/internal/workload/ds2/calls"
	"ds2/internal/workload/ds2/loaded"
)

// ErrWords says that titles and actors of a database are of other words than users would search for.
var ErrWords = errors.New("its titles and actors are made of other words than these; " +
	"give the file it was loaded with by --words")

// Look makes a plan for targets that were loaded to the end: all of one size, the one asked for where one is, and made
// of the words in c, whose size is filled in.
func Look(
	targets []store.Database, infos []store.Info, engines calls.Engines, want *datagen.Size, c Config,
) (*Plan, error) {
	p := &Plan{Config: c, Engines: engines}
	for i, target := range targets {
		label := target.Label()
		connect, ok := engines[target.Engine()]
		if !ok {
			return nil, fmt.Errorf("look at %s: ds2 has no calls of DVD Store 2 on %s", label, target.Engine())
		}
		p.Targets = append(p.Targets, func(ctx context.Context) (calls.Session, error) { return connect(ctx, target) })
		size, seed, err := loaded.Rows(infos[i])
		if err != nil {
			return nil, err
		}
		if want != nil && *want != size {
			return nil, fmt.Errorf("look at %s: it holds a dataset of size %s, not %s; "+
				"leave out the size, or load the one you want with ds2 load", label, size, *want)
		}
		lists, err := loaded.Lists(infos[i])
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", label, err)
		}
		if lists != nil {
			p.Config.Words = lists
		}
		if sum, ok := infos[i][loaded.Words]; ok && sum != p.Config.Words.Sum() {
			return nil, fmt.Errorf("look at %s: %w", label, ErrWords)
		}
		if i > 0 && size != p.Config.Size {
			const format = "%s holds a dataset of size %s and %s one of size %s: targets driven together must be alike"
			return nil, fmt.Errorf(format, targets[0].Label(), p.Config.Size, label, size)
		}
		p.Config.Size = size
		p.Seeds = append(p.Seeds, seed)
	}
	return p, nil
}

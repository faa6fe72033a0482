package postgres

import (
	"context"
	"database/sql"

	"ds2/internal/store"
)

// state is one thing that a run is made in.
type state struct {
	Kind        store.Kind
	Name, Value sql.NullString
}

// Surroundings asks what a run is made in: load.Describer.
func (s *Store) Surroundings(ctx context.Context) (store.Surroundings, error) {
	found, err := store.Collect[state](ctx, s.db, query("database/state"), s.ownProcesses())
	if err != nil {
		return nil, s.Wrap("ask for the state of the server", err)
	}
	all := store.Surroundings{}
	for _, one := range found {
		if all[one.Kind] == nil {
			all[one.Kind] = map[string]string{}
		}
		all[one.Kind][one.Name.String] = one.Value.String
	}
	all[store.OfSchema], err = store.Pairs[string](ctx, s.db, query("database/schema"))
	return all, s.Wrap("ask for the schema", err)
}

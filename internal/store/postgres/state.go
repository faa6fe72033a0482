package postgres

import (
	"context"
	"database/sql"

	"ds2/internal/store"
	"ds2/schema"
)

var (
	askState  = schema.Query(Engine, "database/state")
	askSchema = schema.Query(Engine, "database/schema")
)

// Surroundings asks what a run is made in: load.Describer.
func (s *Store) Surroundings(ctx context.Context) (store.Surroundings, error) {
	state := store.Surroundings{}
	note := func(kind store.Kind, name, value string) {
		if state[kind] == nil {
			state[kind] = map[string]string{}
		}
		state[kind][name] = value
	}
	err := store.List(ctx, s.db, askState, func(rows *sql.Rows) error {
		var kind store.Kind
		var name, value sql.NullString
		err := rows.Scan(&kind, &name, &value)
		note(kind, name.String, value.String)
		return err
	}, s.ownProcesses())
	if err != nil {
		return nil, s.Wrap("ask for the state of the server", err)
	}

	err = store.List(ctx, s.db, askSchema, func(rows *sql.Rows) error {
		var name, value string
		err := rows.Scan(&name, &value)
		note(store.OfSchema, name, value)
		return err
	})
	return state, s.Wrap("ask for the schema", err)
}

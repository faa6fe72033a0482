package load

import (
	"context"
	"encoding/json"

	"ds2/internal/result"
	"ds2/internal/store"
)

// Describer is an engine that tells what a run is made in, to be compared before and after it.
type Describer interface {
	Surroundings(ctx context.Context) (store.Surroundings, error)
}

// noteSchema notes in the database the schema that the load has made.
func (l *loader) noteSchema(ctx context.Context) error {
	engine, ok := l.engine.(Describer)
	if !ok {
		return nil
	}
	made, err := engine.Surroundings(ctx)
	if err != nil {
		return err
	}
	text, err := json.Marshal(made[store.OfSchema])
	if err != nil {
		return err
	}
	err = store.SetInfo(ctx, l.engine.DB(), store.InfoSchema, string(text))
	return l.engine.Wrap("note the schema", err)
}

// SchemaChanges are what of a database's schema is not as its load left it: what statements do, and
// what they cost, is then not what the workload says. A load of another version, or none of ds2,
// noted nothing to compare with.
func SchemaChanges(
	info store.Info, now store.Surroundings,
) (changes []result.Change, noted bool) {
	var loaded map[string]string
	if json.Unmarshal([]byte(info[store.InfoSchema]), &loaded) != nil || now == nil {
		return nil, false
	}
	changes = result.CompareStates(loaded, now[store.OfSchema])
	for i := range changes {
		changes[i].When = result.SinceLoad
	}
	return changes, true
}

// ReadSchemaChanges are SchemaChanges of a database as it is now.
func ReadSchemaChanges(
	ctx context.Context, target store.Database,
) (changes []result.Change, noted bool, err error) {
	engine, ok := target.(Describer)
	if !ok {
		return nil, false, nil
	}
	info, err := store.ReadInfo(ctx, target.DB())
	if err != nil {
		return nil, false, nil // ds2 did not load it
	}
	now, err := engine.Surroundings(ctx)
	if err != nil {
		return nil, false, err
	}
	changes, noted = SchemaChanges(info, now)
	return changes, noted, nil
}

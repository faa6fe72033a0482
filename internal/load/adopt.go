package load

import (
	"context"
	"fmt"

	"ds2/internal/store"
	"ds2/schema"
)

// Adopt takes a database that the workload's own tools made and filled for one of the kit's: in one transaction it gets the kit's
// notes and procedures. Of what is there, nothing is changed or dropped.
func Adopt(ctx context.Context, e store.Database, o Options) (leftOut []string, err error) {
	l := &loader{engine: e, options: o, params: o.Dataset.Params(o.Schema)}
	l.params.Database = e.Name()
	if leftOut, err = e.Adapt(ctx, &l.params); err != nil {
		return nil, fmt.Errorf("adopt: %w", err)
	}
	var all []schema.Statement
	for _, phase := range []schema.Phase{schema.Adopt, schema.Procedures} {
		statements, err := l.statements(phase)
		if err != nil {
			return nil, fmt.Errorf("adopt: %w", err)
		}
		all = append(all, statements...)
	}
	all = append(all, l.notes(store.StateReady)...)
	if err := l.inTransaction(ctx, append(all, dropSteps)); err != nil {
		return nil, fmt.Errorf("adopt: %w", err)
	}
	return leftOut, nil
}

package load

import (
	"context"
	"fmt"

	"ds2/internal/store"
	"ds2/schema"
)

// Adopt takes a database that the workload's own tools made and filled for one of the kit's: in one transaction it gets
// the kit's notes and procedures. Of what is there, nothing is changed or dropped.
func Adopt(ctx context.Context, e store.Database, o Options) (leftOut []string, err error) {
	l := &loader{engine: e, options: o, params: o.Dataset.Params(o.Schema)}
	l.params.Database = e.Name()
	if leftOut, err = e.Adapt(ctx, &l.params); err != nil {
		return nil, fmt.Errorf("adopt: %w", err)
	}
	if err := l.prepare(schema.Adopt, schema.Procedures); err != nil {
		return nil, fmt.Errorf("adopt: %w", err)
	}
	all := append(l.phases[schema.Adopt], l.phases[schema.Procedures]...)
	if err := l.inTransaction(ctx, all, append(l.notes(store.StateReady), dropSteps)...); err != nil {
		return nil, fmt.Errorf("adopt: %w", err)
	}
	return leftOut, nil
}

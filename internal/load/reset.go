package load

import (
	"context"
	"fmt"

	"ds2/datagen"
	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/schema"
)

// Resetter is an engine that takes a database back to the state after the load.
type Resetter interface {
	// Reset runs the statements of schema.Reset, for the most part in one transaction. The rows are
	// copied where a statement says so. It calls begin with the name of each statement that begins.
	Reset(
		ctx context.Context,
		statements []schema.Statement,
		parts []datagen.Part,
		begin func(statement string),
	) error
}

// Reset takes a loaded database back to the state after its load: what runs added goes, and what
// they changed is as the dataset has it.
func Reset(
	ctx context.Context,
	s store.Database,
	workloads workload.Workloads,
	tell progress.Tell,
) error {
	engine, ok := s.(Resetter)
	if !ok {
		return store.Unsupported(s, "reset")
	}
	w, info, err := workloads.Ask(ctx, s)
	if err != nil {
		return fmt.Errorf("reset %s: %w", s.Label(), err)
	}
	planner, ok := w.(workload.Resetter)
	if !ok {
		return fmt.Errorf("reset %s: a database of workload %s cannot be reset: go back to a copy by ds2 snapshot", s.Label(), w.Name())
	}
	plan, err := planner.PlanReset(s.Engine(), info)
	if err != nil {
		return err
	}
	begun := int64(0)
	all := int64(len(plan.Statements))
	err = engine.Reset(ctx, plan.Statements, plan.Rows, func(statement string) {
		tell(statement, begun, all)
		begun = min(begun+1, all)
	})
	if err == nil && info[store.InfoFailed] != "" {
		err = s.Wrap("forget the failed audit", store.SetInfo(ctx, s.DB(), store.InfoFailed, ""))
	}
	return err
}

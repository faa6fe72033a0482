package load

import (
	"context"
	"fmt"
	"io"

	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/workload"
)

// Reset takes a loaded database back to the state after its load: what runs added goes, and what they changed is as the
// dataset has it.
func Reset(ctx context.Context, s store.Database, workloads workload.Workloads, tell progress.Tell) error {
	reset := s.Can().Reset
	if reset == nil {
		return store.Cannot(s, "resets")
	}
	w, info, err := workloads.Ask(ctx, s)
	if err != nil {
		return fmt.Errorf("reset %s: %w", s.Label(), err)
	}
	planner, ok := w.(workload.Resetter)
	if !ok {
		return fmt.Errorf("reset %s: a database of workload %s cannot be reset: go back to a copy by ds2 snapshot",
			s.Label(), w.Name())
	}
	plan, err := planner.PlanReset(ctx, s, info)
	if err != nil {
		return err
	}
	err = stream(plan.Rows, func(r io.Reader) error {
		return reset(ctx, plan.Statements, r, resetSteps(plan, tell))
	})
	if err == nil && info[store.InfoFailed] != "" {
		err = s.Wrap("forget the failed audit", store.SetInfo(ctx, s.DB(), store.InfoFailed, ""))
	}
	return err
}

// few is the share of a table's rows below which vacuuming looks at what was removed alone: the server then leaves
// indexes out.
const few = 0.02

// resetSteps tells how a reset goes on, whose statements run one after the other: the work of each is known by the rows
// that runs added, in thousandths of what it takes to remove one.
func resetSteps(r workload.Reset, tell progress.Tell) (begin func(statement string)) {
	work, total := map[string]float64{}, 0.0
	for _, s := range r.Statements {
		added, held := max(r.Added[s.Table], 0), r.Held[s.Table]
		units := s.CostAdded * added
		if s.Cost > 0 {
			units = s.Cost * held * min(added/(few*max(held, 1)), 1)
		}
		work[s.Name] = 1000 * units
		total += work[s.Name]
	}
	tell("find rows to remove", 0, int64(total))
	done, last := 0.0, ""
	return func(statement string) {
		done, last = done+work[last], statement
		tell(statement, int64(done), int64(total))
	}
}

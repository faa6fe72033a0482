package load

import (
	"context"
	"errors"
	"fmt"
	"io"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/internal/workload"
)

// Reset takes a loaded database back to the state after its load: what runs added goes, and what they changed is as the dataset
// has it.
func Reset(ctx context.Context, s store.Store, workloads workload.Workloads, tell store.Tell) error {
	resetter, ok := s.(store.Resetter)
	if !ok {
		return fmt.Errorf("reset %s: %s databases cannot be reset", s.Label(), s.Engine())
	}
	w, info, err := workloads.Ask(ctx, s)
	if err != nil {
		return fmt.Errorf("reset %s: %w", s.Label(), err)
	}
	planner, ok := w.(workload.Resetter)
	if !ok {
		return fmt.Errorf("reset %s: a database of workload %s cannot be reset: go back to a copy by ds2 snapshot", s.Label(), w.Name())
	}
	plan, err := planner.PlanReset(ctx, s, info)
	if err != nil {
		return err
	}
	work := planReset(plan, tell)
	defer work.follow()()
	r, pipe := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		pipe.CloseWithError(writeParts(pipe, plan.Rows))
	}()
	err = resetter.Reset(ctx, plan.Statements, r, work.begin)
	r.CloseWithError(errors.New("the server takes no more")) // frees the writer where the engine stopped early
	<-written
	return err
}

// writeParts writes parts one after the other.
func writeParts(w io.Writer, parts []datagen.Part) error {
	for _, part := range parts {
		if _, err := part.WriteTo(w); err != nil {
			return err
		}
	}
	return nil
}

package load

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"ds2/internal/store"
	"ds2/schema"
)

// readUnfinished reads what an unfinished load of the same dataset has done.
func (l *loader) readUnfinished(ctx context.Context) error {
	info, err := store.ReadInfo(ctx, l.engine.DB())
	if err != nil {
		return l.engine.Wrap("resume", err)
	}
	if info[store.InfoState] != store.StateLoading {
		return fmt.Errorf(
			"database %s is fully loaded: there is nothing to resume", l.engine.Name())
	}
	own := l.loadInfo()
	all := maps.Clone(info)
	maps.Copy(all, own)
	for _, name := range append([]string{store.InfoSize}, slices.Sorted(maps.Keys(all))...) {
		if info[name] != own[name] {
			return fmt.Errorf("the unfinished load has %s %q, not %q: resume as it was started, or start again with --drop", name, info[name], own[name])
		}
	}
	l.done, err = store.Pairs[int64](ctx, l.engine.DB(), schema.Note("steps", nil))
	return l.engine.Wrap("read table ds2_steps", err)
}

// runSteps runs the statements of a phase: step by step, those of a step concurrently.
func (l *loader) runSteps(ctx context.Context, phase schema.Phase) error {
	defer l.course.watchStatements(ctx, l.engine)()
	run := func(ctx context.Context, s schema.Statement) error {
		if _, ok := l.done[s.Name]; ok {
			l.course.skipStatement(s.Name)
			return nil
		}
		l.course.Statement(phase, s.Name, false)
		defer l.course.Statement(phase, s.Name, true)
		return l.engine.ExecStep(ctx, s)
	}
	for statements := l.phases[phase]; len(statements) > 0; {
		n := 1
		for n < len(statements) && statements[n].Step == statements[0].Step {
			n++
		}
		lanes := slices.Collect(slices.Chunk(statements[:n], 1))
		if l.locksTables() {
			lanes = schema.ByTable(statements[:n])
		}
		if err := inLanes(ctx, l.options.AtOnce, lanes, run); err != nil {
			return err
		}
		statements = statements[n:]
	}
	return nil
}

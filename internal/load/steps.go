package load

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"ds2/internal/store"
	"ds2/schema"
)

// resume reads what an unfinished load of the same dataset has done.
func (l *loader) resume(ctx context.Context) error {
	info, err := store.ReadInfo(ctx, l.engine.DB())
	if err != nil {
		return l.engine.Wrap("resume", err)
	}
	if info[store.InfoState] != store.StateLoading {
		return fmt.Errorf("database %s is fully loaded: there is nothing to resume", l.engine.Database())
	}
	for _, name := range []string{store.InfoSize, store.InfoWords, store.InfoVersion} {
		if found, want := info[name], l.info()[name]; found != want {
			return fmt.Errorf("the unfinished load has %s %q, not %q: resume with what it was started with, or start again with --drop",
				name, found, want)
		}
	}
	rows, err := l.engine.DB().QueryContext(ctx, "SELECT name FROM ds2_steps")
	if err != nil {
		return l.engine.Wrap("read table ds2_steps", err)
	}
	defer rows.Close()
	l.done = map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return l.engine.Wrap("read table ds2_steps", err)
		}
		l.done[name] = true
	}
	return l.engine.Wrap("read table ds2_steps", rows.Err())
}

// runPhase runs the statements of a phase: step by step, those of a step concurrently.
func (l *loader) runPhase(phase schema.Phase) func(context.Context) error {
	return func(ctx context.Context) error {
		statements, err := l.statements(phase)
		if err != nil {
			return err
		}
		if l.options.Watch != nil {
			watched, end := context.WithCancel(ctx)
			defer end()
			go l.watch.watchProgress(watched, l.engine)
		}
		for len(statements) > 0 {
			n := 1
			for n < len(statements) && statements[n].Step == statements[0].Step {
				n++
			}
			group, ctx := errgroup.WithContext(ctx)
			group.SetLimit(l.options.AtOnce)
			for _, s := range statements[:n] {
				group.Go(func() error { return l.exec(ctx, phase, s) })
			}
			if err := group.Wait(); err != nil {
				return err
			}
			statements = statements[n:]
		}
		return nil
	}
}

func (l *loader) exec(ctx context.Context, phase schema.Phase, s schema.Statement) error {
	if l.done[s.Name] {
		l.watch.skip(l.watch.statements[s.Name])
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	l.watch.Statement(phase, s.Name, false)
	defer l.watch.Statement(phase, s.Name, true)
	return l.engine.ExecStep(ctx, s)
}

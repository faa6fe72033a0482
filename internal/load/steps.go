package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/schema"
)

// resume reads what an unfinished load of the same dataset has done.
func (l *loader) resume(ctx context.Context) error {
	if _, ok := l.engine.(Resumer); !ok {
		return fmt.Errorf("loads into %s cannot be resumed: begin anew with --drop", l.engine.Engine())
	}
	info, err := store.ReadInfo(ctx, l.engine.DB())
	if err != nil {
		return l.engine.Wrap("resume", err)
	}
	if info[store.InfoState] != store.StateLoading {
		return fmt.Errorf("database %s is loaded to the end: there is nothing to resume", l.engine.Database())
	}
	for _, name := range []string{store.InfoSize, store.InfoWords, store.InfoVersion} {
		if found, want := info[name], l.info()[name]; found != want {
			return fmt.Errorf("the unfinished load has %s %q, not %q: resume with what it was begun with, or begin anew with --drop",
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

// copyParts hands the parts to the server, several at once.
func (l *loader) copyParts(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(l.options.AtOnce)
	for _, lane := range l.lanes() {
		group.Go(func() error {
			for _, p := range lane {
				if err := l.copyPart(ctx, p.step, p.Part); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// namedPart is a part with the name of its step.
type namedPart struct {
	datagen.Part
	step string
}

// lanes are the parts that are still to be copied: those of a lane one after the other, the lanes side by side.
func (l *loader) lanes() [][]namedPart {
	_, oneLaneATable := l.engine.(TableLocker)
	number := map[string]int{}        // of the next part of a file
	laneOf := map[datagen.Table]int{} // index into lanes
	var lanes [][]namedPart
	for _, part := range l.options.Parts {
		step := fmt.Sprintf("%s part %d", part.File, number[part.File])
		number[part.File]++
		if l.done[step] {
			l.watch.Watcher.Copied(part.Table, part.Rows, 0)
			l.watch.skip(float64(part.Rows))
			continue
		}
		lane, ok := laneOf[part.Table]
		if !ok || !oneLaneATable {
			lane = len(lanes)
			laneOf[part.Table] = lane
			lanes = append(lanes, nil)
		}
		lanes[lane] = append(lanes[lane], namedPart{part, step})
	}
	return lanes
}

// copyPart writes a part into one end of a pipe while the engine reads the other.
func (l *loader) copyPart(ctx context.Context, step string, part datagen.Part) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	start := time.Now()
	r, w := io.Pipe()
	meter := &meter{w: w, table: part.Table, watch: l.watch}
	written := make(chan struct{})
	go func() {
		defer close(written)
		b := bufio.NewWriterSize(meter, 256<<10)
		_, err := part.WriteTo(b)
		w.CloseWithError(errors.Join(err, b.Flush()))
	}()
	rows, err := l.copy(ctx, step, string(part.Table), r)
	r.CloseWithError(errors.New("the server takes no more")) // frees the writer where the engine stopped early
	<-written
	if err != nil {
		return err
	}
	l.report.add(part.Table, rows, meter.bytes, time.Since(start))
	return nil
}

func (l *loader) copy(ctx context.Context, step, table string, csv io.Reader) (int64, error) {
	if e, ok := l.engine.(Resumer); ok {
		return e.CopyStep(ctx, step, table, csv)
	}
	return l.engine.Copy(ctx, table, csv)
}

// runPhase runs the statements of a phase: step by step, those of a step side by side.
func (l *loader) runPhase(phase schema.Phase) func(context.Context) error {
	return func(ctx context.Context) error {
		statements, err := l.statements(phase)
		if err != nil {
			return err
		}
		if e, ok := l.engine.(BuildWatcher); ok && phase == schema.Indexes && l.options.Watch != nil {
			watched, end := context.WithCancel(ctx)
			defer end()
			go l.watch.watchBuilds(watched, e)
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
	name := s.Name()
	if l.done[name] {
		l.watch.skip(l.watch.statements[name])
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	l.watch.Statement(phase, name, false)
	defer l.watch.Statement(phase, name, true)
	if e, ok := l.engine.(Resumer); ok {
		return e.ExecStep(ctx, name, s.SQL)
	}
	_, err := l.engine.DB().ExecContext(ctx, s.SQL)
	return l.engine.Wrap(name, err)
}

// meter counts what passes through it.
type meter struct {
	w     io.Writer
	table datagen.Table
	watch Watcher
	bytes int64
}

func (m *meter) Write(b []byte) (int, error) {
	n, err := m.w.Write(b)
	m.bytes += int64(n)
	m.watch.Copied(m.table, int64(bytes.Count(b[:n], []byte{'\n'})), int64(n))
	return n, err
}

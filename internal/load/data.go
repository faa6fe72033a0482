package load

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"ds2/datagen"
	"ds2/schema"
)

// copyParts brings the parts to the server, several at once.
func (l *loader) copyParts(ctx context.Context) error {
	lanes, err := l.lanes()
	if err != nil {
		return err
	}
	return inLanes(ctx, l.options.AtOnce, lanes, l.copy)
}

// inLanes takes the steps of a lane one after the other, and so many lanes concurrently.
func inLanes[T any](ctx context.Context, atOnce int, lanes [][]T, take func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, lane := range lanes {
		group.Go(func() error {
			for _, step := range lane {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := take(ctx, step); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// copying is a step that brings rows to the server: a part, or all parts of a table.
type copying struct {
	step  string
	table datagen.Table
	parts []datagen.Part
	whole bool // the parts are all of the table
}

// largeShare is the share of a dataset's rows from which on a table counts as large.
const largeShare = 0.05

// wholeTables says whether tables are to be copied as a whole, each in a transaction of its own: that writes their rows
// once, but keeps no more sessions at work than there are large tables. See store.Capabilities.
func (l *loader) wholeTables() bool {
	if l.engine.Can().LoadTable == nil || slices.ContainsFunc(l.parts, func(p datagen.Part) bool { return p.Binary }) {
		return false // binary parts cannot be joined
	}
	rows, all := map[datagen.Table]int64{}, int64(0)
	for _, part := range l.parts {
		rows[part.Table] += part.Rows
		all += part.Rows
	}
	large := 0
	for _, n := range rows {
		if float64(n) >= largeShare*float64(all) {
			large++
		}
	}
	return l.options.AtOnce <= large
}

// lanes are what is still to be copied: the steps of a lane one after the other, the lanes concurrently.
func (l *loader) lanes() (lanes [][]copying, err error) {
	of, number := map[string]int{}, map[string]int{} // parts of a file, and of these the last one met
	for _, part := range l.parts {
		of[part.File]++
	}
	known := map[string]bool{}
	whole := len(l.phases[schema.Data]) == 0 && l.wholeTables()
	for _, t := range l.report.Tables {
		all := copying{step: "table " + string(t.Table), table: t.Table, whole: true}
		known[all.step] = true
		copied, done := l.done[all.step]
		if done {
			l.found(t.Table, copied)
		}
		var steps []copying
		begun := false // by an earlier load, part by part
		for _, part := range l.parts {
			if part.Table != t.Table {
				continue
			}
			number[part.File]++
			step := fmt.Sprintf("%s part %d of %d", part.File, number[part.File], of[part.File])
			known[step] = true
			copied, there := l.done[step]
			if there && !done {
				l.found(t.Table, copied)
				begun = true
			}
			if there || done {
				l.course.skipPart(part)
				continue
			}
			steps = append(steps, copying{step: step, table: t.Table, parts: []datagen.Part{part}})
			all.parts = append(all.parts, part)
		}
		switch {
		case len(steps) == 0:
		case whole && !begun:
			for _, s := range l.statements {
				if s.Progress == schema.VacuumProgress && s.Table == string(t.Table) { // finds nothing to do
					l.course.skipStatement(s.Name)
				}
			}
			lanes = append(lanes, []copying{all})
		case l.engine.Can().LocksTables:
			lanes = append(lanes, steps)
		default:
			lanes = slices.AppendSeq(lanes, slices.Chunk(steps, 1))
		}
	}
	for step := range l.done {
		if _, statement := l.course.statements[step]; !statement && !known[step] {
			return nil, fmt.Errorf("the unfinished load has copied %s, and this one's files are split differently: "+
				"resume with the same --size or --from, or start again with --drop", step)
		}
	}
	if whole { // the one that takes longest first, or it would be at work alone at the end
		slices.SortStableFunc(lanes, func(a, b []copying) int { return cmp.Compare(laneWork(b), laneWork(a)) })
	}
	return lanes, nil
}

func laneWork(lane []copying) (all float64) {
	for _, c := range lane {
		for _, part := range c.parts {
			all += work(part.Rows, part.Bytes)
		}
	}
	return all
}

// found counts rows that an earlier load had copied.
func (l *loader) found(table datagen.Table, copied int64) {
	l.course.Progress.Copied(table, copied, 0)
	l.report.add(table, TableReport{Rows: copied, Before: copied})
}

// copy has the engine read what the parts write or, where there are statements by which the server reads files, the
// part's file.
func (l *loader) copy(ctx context.Context, c copying) (err error) {
	part := c.parts[0] // or the first of several, alike
	done, start := TableReport{Rows: part.Rows, Bytes: part.Bytes}, time.Now()
	if len(l.phases[schema.Data]) > 0 {
		if err = l.readFile(ctx, c.step, part); err == nil {
			l.course.Copied(part.Table, part.Rows, part.Bytes)
		}
	} else {
		meter := &meter{part: part, progress: l.course}
		load := l.engine.LoadRows
		switch {
		case c.whole:
			load = l.engine.Can().LoadTable
		case part.Binary:
			load = l.engine.Can().LoadBinary
		}
		err = stream(c.parts, func(r io.Reader) (err error) {
			done.Rows, err = load(ctx, c.step, string(c.table), io.TeeReader(r, meter))
			return err
		})
		if err == nil { // else the engine may still be at the rows
			done.Bytes = meter.bytes
		}
	}
	if err == nil {
		done.Busy = time.Since(start)
		l.report.add(c.table, done)
	}
	return err
}

func (l *loader) readFile(ctx context.Context, step string, part datagen.Part) error {
	for _, s := range l.phases[schema.Data] {
		if s.Name == part.File {
			s.Name = step
			return l.engine.ExecStep(ctx, s)
		}
	}
	return fmt.Errorf("the server is not told to read %s", part.File)
}

// stream has parts written into one end of a pipe while take reads the other.
func stream(parts []datagen.Part, take func(io.Reader) error) error {
	r, w := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		var err error
		for i := 0; i < len(parts) && err == nil; i++ {
			_, err = parts[i].WriteTo(w)
		}
		w.CloseWithError(err)
	}()
	err := take(r)
	r.CloseWithError(errors.New("load aborted")) // frees the writer where the engine stopped early
	<-written
	return err
}

// meter counts what passes through it.
type meter struct {
	part     datagen.Part
	progress Progress
	bytes    int64
}

func (m *meter) Write(b []byte) (int, error) {
	before := m.bytes
	m.bytes += int64(len(b))
	rows := int64(bytes.Count(b, []byte{'\n'}))
	if m.part.Binary {
		rows = m.rows(m.bytes) - m.rows(before)
	}
	m.progress.Copied(m.part.Table, rows, int64(len(b)))
	return len(b), nil
}

// rows is how many rows of a binary part so many bytes are, at most all.
func (m *meter) rows(bytes int64) int64 {
	return int64(min(float64(bytes)/float64(m.part.Bytes), 1) * float64(m.part.Rows))
}

package load

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/schema"
)

// copyParts brings the parts to the server, several at once.
func (l *loader) copyParts(ctx context.Context) error {
	lanes, err := l.planLanes()
	if err != nil {
		return err
	}
	return inLanes(ctx, l.options.AtOnce, lanes, l.loadCopy)
}

// inLanes takes the steps of a lane one after the other, and several lanes concurrently.
func inLanes[T any](
	ctx context.Context, atOnce int, lanes [][]T, take func(context.Context, T) error,
) error {
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

// TableLocker is an engine whose Load locks the whole table: the parts of a table go in one after
// the other, and so do the statements of a step that work on the same table.
type TableLocker interface{ LocksTables() }

// locksTables says whether the engine is one of these.
func (l *loader) locksTables() bool {
	_, locks := l.engine.(TableLocker)
	return locks
}

// largeShare is the share of a dataset's rows from which on a table counts as large.
const largeShare = 0.05

// wholeTables says whether tables are to be copied as a whole, each in a transaction of its own:
// that writes their rows once, but keeps no more sessions at work than there are large tables. A
// single large table goes in by parts, of which a load that is resumed repeats few.
func (l *loader) wholeTables() bool {
	if l.locksTables() {
		return false
	}
	rows := map[datagen.Table]int64{}
	all := int64(0)
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
	return large > 1 && l.options.AtOnce <= large
}

// planLanes are what is still to be copied: the steps of a lane one after the other, the lanes
// concurrently.
func (l *loader) planLanes() (lanes [][]store.Copy, err error) {
	// parts of a file, and of these the last one met
	of := map[string]int{}
	number := map[string]int{}
	for _, part := range l.parts {
		of[part.File]++
	}
	known := map[string]bool{}
	whole := len(l.phases[schema.Data]) == 0 && l.wholeTables()
	for _, t := range l.report.Tables {
		all := store.Copy{Step: "table " + string(t.Table), Table: string(t.Table), Whole: true}
		known[all.Step] = true
		copied, done := l.done[all.Step]
		if done {
			l.countFound(t.Table, copied)
		}
		var steps []store.Copy
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
				l.countFound(t.Table, copied)
				begun = true
			}
			if there || done {
				l.course.skipCopy(part.Bytes)
				continue
			}
			copyOfPart := store.Copy{Step: step, Table: all.Table, Parts: []datagen.Part{part}}
			steps = append(steps, copyOfPart)
			all.Parts = append(all.Parts, part)
		}
		switch {
		case len(steps) == 0:
		case whole && !begun:
			for _, s := range l.phases[schema.Indexes] {
				if s.Progress == schema.VacuumProgress && s.Table == all.Table {
					l.course.skipStatement(s.Name) // finds nothing to do
				}
			}
			lanes = append(lanes, []store.Copy{all})
		case l.locksTables():
			lanes = append(lanes, steps)
		default:
			lanes = slices.AppendSeq(lanes, slices.Chunk(steps, 1))
		}
	}
	for step := range l.done {
		if _, statement := l.course.statements[step]; !statement && !known[step] {
			return nil, fmt.Errorf("the unfinished load has copied %s, and this one's files are split differently: resume with the same --size or --from, or start again with --drop", step)
		}
	}
	if whole { // the one that takes longest first, or it would be at work alone at the end
		slices.SortStableFunc(lanes, func(a, b []store.Copy) int {
			return cmp.Compare(laneBytes(b), laneBytes(a))
		})
	}
	return lanes, nil
}

// laneBytes is how many bytes of CSV a lane has, about: what its time goes by.
func laneBytes(lane []store.Copy) (all int64) {
	for _, c := range lane {
		for _, part := range c.Parts {
			all += part.Bytes
		}
	}
	return all
}

// countFound counts rows that an earlier load had copied.
func (l *loader) countFound(table datagen.Table, copied int64) {
	l.course.Progress.Copied(table, copied, 0)
	l.report.addTable(table, TableReport{Rows: copied, Before: copied})
}

// loadCopy has the engine load the parts or, where there are statements by which the server reads
// files, the part's file.
func (l *loader) loadCopy(ctx context.Context, c store.Copy) (err error) {
	part := c.Parts[0] // or the first of several, alike
	done := TableReport{Rows: part.Rows, Bytes: part.Bytes}
	start := time.Now()
	if len(l.phases[schema.Data]) > 0 {
		if err = l.readFile(ctx, c.Step, part); err == nil {
			l.course.Copied(part.Table, part.Rows, part.Bytes)
		}
	} else {
		rowBytes := float64(part.Bytes) / float64(max(part.Rows, 1))
		bytes := func(rows int64) int64 { return int64(rowBytes * float64(rows)) }
		c.Told = func(rows int64) { l.course.Copied(part.Table, rows, bytes(rows)) }
		done.Rows, err = l.engine.Load(ctx, c)
		done.Bytes = bytes(done.Rows)
	}
	if err == nil {
		done.Busy = time.Since(start)
		l.report.addTable(part.Table, done)
	}
	return err
}

// readFile has the server read the file of a part, and notes it as a step.
func (l *loader) readFile(ctx context.Context, step string, part datagen.Part) error {
	for _, s := range l.phases[schema.Data] {
		if s.Name == part.File {
			s.Name = step
			return l.engine.ExecStep(ctx, s)
		}
	}
	return fmt.Errorf("the server is not told to read %s", part.File)
}

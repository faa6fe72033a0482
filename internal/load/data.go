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
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(l.options.AtOnce)
	files := map[string]schema.Statement{} // that have the server read files, by the files' names
	for _, s := range l.phases[schema.Data] {
		files[s.Name] = s
	}
	lanes, err := l.lanes(len(files) > 0)
	if err != nil {
		return err
	}
	for _, lane := range lanes {
		group.Go(func() error {
			for _, c := range lane {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err := l.copy(ctx, c, files); err != nil {
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

// tableCopies is what of a table is still to be copied: as a whole, and part by part.
type tableCopies struct {
	whole       copying
	steps       []copying
	begun, done bool // by an earlier load: some parts, or all as a whole
}

// lanes are what is still to be copied: the steps of a lane one after the other, the lanes concurrently.
func (l *loader) lanes(files bool) ([][]copying, error) {
	of := map[string]int{} // parts of a file
	for _, part := range l.parts {
		of[part.File]++
	}
	number := map[string]int{} // of the last part of a file
	known := map[string]bool{}
	var tables []*tableCopies
	for _, part := range l.parts {
		number[part.File]++
		c := copying{fmt.Sprintf("%s part %d of %d", part.File, number[part.File], of[part.File]), part.Table, []datagen.Part{part}, false}
		i := slices.IndexFunc(tables, func(t *tableCopies) bool { return t.whole.table == part.Table })
		if i < 0 {
			i = len(tables)
			t := &tableCopies{whole: copying{step: "table " + string(part.Table), table: part.Table, whole: true}}
			copied, done := l.done[t.whole.step]
			if t.done = done; done {
				l.found(part.Table, copied)
			}
			tables, known[t.whole.step] = append(tables, t), true
		}
		known[c.step] = true
		t := tables[i]
		copied, done := l.done[c.step]
		if done && !t.done {
			l.found(part.Table, copied)
			t.begun = true
		}
		if done || t.done {
			l.course.skipPart(part)
			continue
		}
		t.whole.parts, t.steps = append(t.whole.parts, part), append(t.steps, c)
	}
	for step := range l.done {
		if _, statement := l.course.statements[step]; !statement && !known[step] {
			return nil, fmt.Errorf("the unfinished load has copied %s, and this one's files are split differently: resume with the same --size or --from, or start again with --drop", step)
		}
	}
	whole := !files && l.wholeTables()
	var lanes [][]copying
	for _, t := range tables {
		switch {
		case len(t.steps) == 0:
		case whole && !t.begun:
			for _, name := range l.vacuums[t.whole.table] { // finds nothing to do
				l.course.skipStatement(name)
			}
			lanes = append(lanes, []copying{t.whole})
		case l.engine.Can().LocksTables:
			lanes = append(lanes, t.steps)
		default:
			lanes = slices.AppendSeq(lanes, slices.Chunk(t.steps, 1))
		}
	}
	if whole { // the one that takes longest first, or it would be at work alone at the end
		slices.SortStableFunc(lanes, func(a, b []copying) int { return cmp.Compare(laneWork(b), laneWork(a)) })
	}
	return lanes, nil
}

// laneWork is the work of copying all of a lane.
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
func (l *loader) copy(ctx context.Context, c copying, files map[string]schema.Statement) error {
	if len(files) > 0 {
		return l.readFile(ctx, c, files)
	}
	start := time.Now()
	loadRows := l.engine.LoadRows
	switch {
	case c.whole:
		loadRows = l.engine.Can().LoadTable
	case c.parts[0].Binary:
		loadRows = l.engine.Can().LoadBinary
	}
	meter := &meter{part: c.parts[0], progress: l.course}
	var rows int64
	err := stream(c.parts, func(r io.Reader) (err error) {
		rows, err = loadRows(ctx, c.step, string(c.table), io.TeeReader(r, meter))
		return err
	})
	if err == nil {
		l.report.add(c.table, TableReport{Rows: rows, Bytes: meter.bytes, Busy: time.Since(start)})
	}
	return err
}

// stream has parts written into one end of a pipe while take reads the other.
func stream(parts []datagen.Part, take func(io.Reader) error) error {
	r, w := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		w.CloseWithError(writeParts(w, parts))
	}()
	err := take(r)
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

// readFile has the server read a part's file.
func (l *loader) readFile(ctx context.Context, c copying, files map[string]schema.Statement) error {
	part := c.parts[0]
	s, ok := files[part.File]
	if !ok {
		return fmt.Errorf("the server is not told to read %s", part.File)
	}
	s.Name = c.step
	start := time.Now()
	err := l.engine.ExecStep(ctx, s)
	if err == nil {
		l.course.Copied(part.Table, part.Rows, part.Bytes)
		l.report.add(part.Table, TableReport{Rows: part.Rows, Bytes: part.Bytes, Busy: time.Since(start)})
	}
	return err
}

// meter counts what passes through it.
type meter struct {
	part     datagen.Part // or the first of several, alike
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

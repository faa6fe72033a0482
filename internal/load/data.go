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

// copyParts brings the parts to the server, several at once.
func (l *loader) copyParts(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(l.options.AtOnce)
	lanes, err := l.lanes()
	if err != nil {
		return err
	}
	bring := l.copyPart
	files, err := l.readFiles()
	if err != nil {
		return err
	}
	if files != nil {
		bring = files
	}
	for _, lane := range lanes {
		group.Go(func() error {
			for _, p := range lane {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := bring(ctx, p); err != nil {
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

// lanes are the parts that are still to be copied: those of a lane one after the other, the lanes concurrently.
func (l *loader) lanes() ([][]namedPart, error) {
	_, oneLaneATable := l.engine.(store.TableLocker)
	of := map[string]int{} // parts of a file
	for _, part := range l.options.Parts {
		of[part.File]++
	}
	number := map[string]int{}        // of the last part of a file
	laneOf := map[datagen.Table]int{} // index into lanes
	steps := map[string]bool{}
	var lanes [][]namedPart
	for _, part := range l.options.Parts {
		number[part.File]++
		step := fmt.Sprintf("%s part %d of %d", part.File, number[part.File], of[part.File])
		steps[step] = true
		if copied, ok := l.done[step]; ok {
			l.watch.Watcher.Copied(part.Table, copied, 0)
			l.watch.skip(float64(part.Rows))
			l.report.found(part.Table, copied)
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
	for step := range l.done {
		if _, statement := l.watch.statements[step]; !statement && !steps[step] {
			return nil, fmt.Errorf("the unfinished load has copied %s, and this one's files are cut otherwise: resume with --size or --from as it was begun, or start again with --drop", step)
		}
	}
	return lanes, nil
}

// copyPart writes a part into one end of a pipe while the engine reads the other.
func (l *loader) copyPart(ctx context.Context, part namedPart) error {
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
	rows, err := l.engine.CopyStep(ctx, part.step, string(part.Table), r)
	r.CloseWithError(errors.New("the server takes no more")) // frees the writer where the engine stopped early
	<-written
	if err != nil {
		return err
	}
	l.report.add(part.Table, rows, meter.bytes, time.Since(start))
	return nil
}

// readFiles gives what brings a part by the statement that has the server read the part's file; nil where the server reads none.
func (l *loader) readFiles() (func(context.Context, namedPart) error, error) {
	byFile, err := l.fileStatements()
	if err != nil || len(byFile) == 0 {
		return nil, err
	}
	return func(ctx context.Context, part namedPart) error {
		s, ok := byFile[part.File]
		if !ok {
			return fmt.Errorf("the server is not told to read %s", part.File)
		}
		s.Name = part.step
		start := time.Now()
		if err := l.engine.ExecStep(ctx, s); err != nil {
			return err
		}
		l.watch.Copied(part.Table, part.Rows, part.Bytes)
		l.report.add(part.Table, part.Rows, part.Bytes, time.Since(start))
		return nil
	}, nil
}

// fileStatements gives the statements that have the server read files, by the files' names.
func (l *loader) fileStatements() (map[string]schema.Statement, error) {
	if !schema.ReadsFiles(l.engine.Engine()) {
		return nil, nil
	}
	statements, err := l.statements(schema.Data)
	byFile := map[string]schema.Statement{}
	for _, s := range statements {
		byFile[s.Name] = s
	}
	return byFile, err
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

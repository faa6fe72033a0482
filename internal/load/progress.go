package load

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"ds2/datagen"
	"ds2/internal/numbers"
	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/schema"
)

// pollEvery is how often the engine is asked how far statements are.
const pollEvery = time.Second

// course is a Progress before the user's: it computes from what both are told how much of the whole
// load is done, in bytes: those that are copied and, for each statement that reads a whole table,
// those of the table.
type course struct {
	Progress
	mu         sync.Mutex // also keeps what is told in order
	phase      schema.Phase
	toCopy     int64            // bytes, about
	copied     int64            // of these
	total      int64            // toCopy and the bytes of all statements
	done       int64            // of these, but for statements that are running
	statements map[string]int64 // bytes, by name
	running    map[string]int64 // bytes that are done of those that are running
}

// newCourse counts the work of a load before it begins: all parts, and all statements that read
// tables.
func newCourse(next Progress, parts []datagen.Part, statements []schema.Statement) *course {
	c := &course{Progress: next, statements: map[string]int64{}, running: map[string]int64{}}
	bytes := map[string]int64{}
	for _, part := range parts {
		bytes[string(part.Table)] += part.Bytes
		c.toCopy += part.Bytes
	}
	c.total = c.toCopy
	for _, s := range statements {
		takes := bytes[s.Table]
		if s.Progress == "" || s.Progress == schema.AnalyzeProgress {
			takes = 0 // it changes the catalog, or samples
		}
		c.statements[s.Name] = takes
		c.total += takes
	}
	return c
}

// updateProgress changes what was done, and tells what the load is at, and how much of all work is
// done.
func (c *course) updateProgress(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	done := c.done
	for _, reached := range c.running {
		done += reached
	}
	doing := string(c.phase)
	if c.phase == schema.Data {
		copied := min(c.copied, c.toCopy)
		doing += ", " + numbers.Bytes(copied) + " of " + numbers.Bytes(c.toCopy)
	}
	if len(c.running) > 0 {
		doing += ", " + strings.Join(slices.Sorted(maps.Keys(c.running)), ", ")
	}
	c.Progress.Tell(doing, min(done, c.total), c.total)
}

// Copied counts rows on their way to the server, and tells next.
func (c *course) Copied(table datagen.Table, rows, bytes int64) {
	c.Progress.Copied(table, rows, bytes)
	c.updateProgress(func() {
		c.done += bytes
		c.copied += bytes
	})
}

// skipCopy leaves out what an earlier load copied: it takes no time now.
func (c *course) skipCopy(bytes int64) {
	c.updateProgress(func() {
		c.toCopy -= bytes
		c.total -= bytes
	})
}

// skipStatement leaves out a statement that takes no time.
func (c *course) skipStatement(statement string) {
	c.updateProgress(func() {
		c.total -= c.statements[statement]
		c.statements[statement] = 0
	})
}

// Statement counts a statement as running until it has ended, and then as done, whatever the server
// told of it.
func (c *course) Statement(phase schema.Phase, statement string, ended bool) {
	c.Progress.Statement(phase, statement, ended)
	c.updateProgress(func() {
		if ended {
			delete(c.running, statement)
			c.done += c.statements[statement]
		} else {
			c.running[statement] = 0
		}
	})
}

// StatementProgress is an engine that tells how far statements are.
type StatementProgress interface {
	// Progress gives the share that is done, 0 to 1, of each running statement of which the server
	// tells, by the statements' names.
	Progress(ctx context.Context) (map[string]float64, error)
}

// watchStatements asks how far statements are until stop is called.
func (c *course) watchStatements(ctx context.Context, e store.Database) (stop func()) {
	engine, ok := e.(StatementProgress)
	if !ok {
		return func() {}
	}
	return progress.Watch(ctx, pollEvery, func(ctx context.Context) bool {
		shares, err := engine.Progress(ctx)
		if err != nil {
			return false // it is only for show
		}
		c.updateProgress(func() {
			for name, share := range shares {
				if reached, running := c.running[name]; running {
					done := int64(min(share, 1) * float64(c.statements[name]))
					c.running[name] = max(done, reached)
				}
			}
		})
		return true
	})
}

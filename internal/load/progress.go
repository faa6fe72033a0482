package load

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"ds2/datagen"
	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/schema"
)

// pollEvery is how often the engine is asked how far statements are.
const pollEvery = time.Second

// course is a Progress before the user's: it computes from what both are told how much of the whole load is done. The
// unit of work is the time that a byte of CSV takes to copy; statements cost as much as so many rows of no bytes,
// roughly.
type course struct {
	Progress
	mu         sync.Mutex // also keeps what is told in order
	phase      schema.Phase
	copying    float64            // work of copying, about
	copied     float64            // of this
	building   float64            // work of all statements
	built      float64            // of those that have ended
	statements map[string]float64 // work, by name
	running    map[string]float64 // work that is done of those that are running
}

// rowBytes is the bytes of CSV that take as long to copy as what each row takes besides its bytes, as measured on
// PostgreSQL 15.
const rowBytes = 22

// work is the work of copying rows.
func work(rows, bytes int64) float64 { return rowBytes*float64(rows) + float64(bytes) }

func newCourse(next Progress, parts []datagen.Part, statements []schema.Statement) *course {
	c := &course{Progress: next, statements: map[string]float64{}, running: map[string]float64{}}
	rows := map[string]float64{}
	for _, part := range parts {
		rows[string(part.Table)] += float64(part.Rows)
		c.copying += work(part.Rows, part.Bytes)
	}
	for _, s := range statements {
		c.statements[s.Name] = rowBytes * s.Cost * rows[s.Table]
		c.building += c.statements[s.Name]
	}
	return c
}

func (c *course) Begin(phase schema.Phase) {
	c.update(func() { c.phase = phase })
	c.Progress.Begin(phase)
}

// update changes what was done, and tells what the load is at, and how much of all work is done.
func (c *course) update(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	done := c.built + min(c.copied, c.copying)
	for _, reached := range c.running {
		done += reached
	}
	doing := string(c.phase)
	if len(c.running) > 0 {
		doing = fmt.Sprintf("%s, %s", doing, strings.Join(slices.Sorted(maps.Keys(c.running)), ", "))
	}
	c.Progress.Tell(doing, int64(done), int64(c.copying+c.building))
}

func (c *course) Copied(table datagen.Table, rows, bytes int64) {
	c.Progress.Copied(table, rows, bytes)
	c.update(func() { c.copied += work(rows, bytes) })
}

// skipPart leaves out a part that an earlier load has copied: it takes no time now.
func (c *course) skipPart(part datagen.Part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.copying -= work(part.Rows, part.Bytes)
}

// skipStatement leaves out a statement that takes no time.
func (c *course) skipStatement(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.building -= c.statements[name]
	c.statements[name] = 0
}

func (c *course) Statement(phase schema.Phase, statement string, ended bool) {
	c.Progress.Statement(phase, statement, ended)
	c.update(func() {
		if ended {
			delete(c.running, statement)
			c.built += c.statements[statement]
		} else {
			c.running[statement] = 0
		}
	})
}

// watch asks how far statements are until stop is called.
func (c *course) watch(ctx context.Context, e store.Database) (stop func()) {
	return progress.Watch(ctx, pollEvery, func(ctx context.Context) bool {
		shares, err := e.Progress(ctx)
		if err != nil {
			return false // it is only for show
		}
		c.update(func() {
			for name, share := range shares {
				if reached, running := c.running[name]; running {
					c.running[name] = max(min(share, 1)*c.statements[name], reached)
				}
			}
		})
		return true
	})
}

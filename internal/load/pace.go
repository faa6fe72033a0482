package load

import (
	"context"
	"sync"
	"time"

	"ds2/datagen"
	"ds2/internal/pace"
	"ds2/internal/store"
	"ds2/schema"
)

// progressEvery is how often the engine is asked how far statements are.
const progressEvery = time.Second

// course is a Progress before the user's: it computes from what both are told how much of the whole load is done, and how long
// the rest takes. The unit of work is the time that a row of no bytes would take to copy; the costs of statements are in the same
// unit, which holds roughly, until the load itself shows how fast this server does each kind of work.
type course struct {
	Progress
	estimate   pace.Estimate
	mu         sync.Mutex         // also keeps what is told in order
	copying    float64            // work that is to be copied
	statements map[string]float64 // cost, by name
	kinds      map[string]pace.Kind
	running    map[string]*pace.Task
	share      float64 // of all, as it was told last
}

// rowBytes is the bytes of CSV that take as long to copy as what each row takes besides its bytes, as measured on PostgreSQL 15.
const rowBytes = 22

// work is the work of copying rows.
func work(rows, bytes int64) float64 { return float64(rows) + float64(bytes)/rowBytes }

// workSeconds is what a unit of work takes on PostgreSQL 15, two processors and one fast drive.
const workSeconds = 1.5e-7

// copyKind is the copying of rows. Statements are of one kind with those whose progress the server reports by the same means.
var copyKind = pace.Kind{Name: "copy", Prior: workSeconds}

func kindOf(s schema.Statement) pace.Kind {
	return pace.Kind{Name: "statements " + string(s.Progress), Prior: workSeconds}
}

// newCourse computes what is to be done.
func newCourse(next Progress, parts []datagen.Part, statements []schema.Statement) *course {
	c := &course{Progress: next, statements: map[string]float64{}, kinds: map[string]pace.Kind{}, running: map[string]*pace.Task{}}
	c.estimate.Seconds, c.estimate.Apart = true, true // rows are mostly written, indexes sorted, and foreign keys read
	rows := map[string]float64{}
	for _, part := range parts {
		rows[string(part.Table)] += float64(part.Rows)
		c.copying += work(part.Rows, part.Bytes)
	}
	c.estimate.Plan(copyKind, c.copying)
	for _, s := range statements {
		c.statements[s.Name], c.kinds[s.Name] = s.Cost*rows[s.Table], kindOf(s)
		c.estimate.Plan(c.kinds[s.Name], c.statements[s.Name])
	}
	return c
}

// Begin is of Progress.
func (c *course) Begin(phase schema.Phase) {
	c.mu.Lock()
	c.estimate.End()
	if phase == PhaseData {
		c.estimate.Begin(copyKind, c.copying)
	}
	c.mu.Unlock()
	c.Progress.Begin(phase)
}

// step notes that statements begin, which run concurrently. Of several kinds the one that costs most stands for all.
func (c *course) step(statements []schema.Statement) {
	c.mu.Lock()
	defer c.mu.Unlock()
	units, most := 0.0, statements[0]
	for _, s := range statements {
		units += c.statements[s.Name]
		if c.statements[s.Name] > c.statements[most.Name] {
			most = s
		}
	}
	c.estimate.Begin(kindOf(most), units)
}

// tell tells the share of all work that is done, and the time left. What was done stays done, also where the rest turns out to be more
// than was expected.
func (c *course) tell() {
	share, left := c.estimate.Left()
	c.share = max(c.share, share)
	c.Progress.Done(c.share, left)
}

// Copied is of Progress.
func (c *course) Copied(table datagen.Table, rows, bytes int64) {
	c.Progress.Copied(table, rows, bytes)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.estimate.Did(work(rows, bytes))
	c.tell()
}

// skipPart leaves out a part that an earlier load has copied: it takes no time now.
func (c *course) skipPart(part datagen.Part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.estimate.Skip(copyKind, work(part.Rows, part.Bytes))
}

// skipStatement leaves out a statement that takes no time.
func (c *course) skipStatement(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.estimate.Skip(c.kinds[name], c.statements[name])
	c.statements[name] = 0
}

// Statement is of Progress.
func (c *course) Statement(phase schema.Phase, statement string, ended bool) {
	c.Progress.Statement(phase, statement, ended)
	c.mu.Lock()
	defer c.mu.Unlock()
	if ended {
		c.running[statement].End()
		delete(c.running, statement)
	} else {
		c.running[statement] = c.estimate.Start(c.statements[statement])
	}
	c.tell()
}

// built notes how much of the statements that are running is done, as far as the server says.
func (c *course) built(shares map[string]float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, share := range shares {
		if task := c.running[name]; task != nil {
			task.Reach(share)
		}
	}
	c.tell()
}

// pollProgress asks how far statements are until ctx ends.
func (c *course) pollProgress(ctx context.Context, e store.Loader) {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		shares, err := e.Progress(ctx)
		if err != nil {
			return // it is only for show
		}
		for name, share := range shares {
			c.Progress.Built(name, share)
		}
		c.built(shares)
	}
}

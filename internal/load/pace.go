package load

import (
	"context"
	"sync"
	"time"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/schema"
)

// progressEvery is how often the engine is asked how far statements are.
const progressEvery = time.Second

// pace is a Progress before the user's: it computes from what both are told how much of the whole load is done, and how long
// the rest takes. The unit of work is the time that a row of no bytes would take to copy; the costs of statements are in the same
// unit, which holds roughly, until the load itself shows how fast this server builds.
type pace struct {
	Progress
	mu         sync.Mutex
	copying    stage
	building   stage
	statements map[string]float64 // cost, by name
	built      map[string]float64 // of that, what is done already
}

// stage is the work of one kind.
type stage struct {
	total, done float64
	began       time.Time // zero before
	took        time.Duration
}

// elapsed is how long the stage has been at work.
func (s *stage) elapsed() time.Duration {
	if s.began.IsZero() {
		return s.took
	}
	return s.took + time.Since(s.began)
}

func (s *stage) left() float64 { return max(s.total-s.done, 0) }

// rowBytes is the bytes of CSV that take as long to copy as what each row takes besides its bytes, as measured on PostgreSQL 15.
const rowBytes = 22

// work is the work of copying rows.
func work(rows, bytes int64) float64 { return float64(rows) + float64(bytes)/rowBytes }

// priorWeight is the share of all building whose own speed counts as much as that of copying, in work a second.
const priorWeight = 0.1

// newPace computes what is to be done.
func newPace(next Progress, parts []datagen.Part, statements []schema.Statement) *pace {
	p := &pace{Progress: next, statements: map[string]float64{}, built: map[string]float64{}}
	rows := map[string]float64{}
	for _, part := range parts {
		rows[string(part.Table)] += float64(part.Rows)
		p.copying.total += work(part.Rows, part.Bytes)
	}
	for _, s := range statements {
		p.statements[s.Name] = s.Cost * rows[s.Table]
		p.building.total += p.statements[s.Name]
	}
	return p
}

// Begin is of Progress.
func (p *pace) Begin(phase schema.Phase) {
	p.mu.Lock()
	p.copying.took, p.copying.began = p.copying.elapsed(), time.Time{}
	p.building.took, p.building.began = p.building.elapsed(), time.Time{}
	switch phase {
	case PhaseData:
		p.copying.began = time.Now()
	case schema.Indexes, schema.Procedures, schema.Statistics:
		p.building.began = time.Now()
	}
	p.mu.Unlock()
	p.Progress.Begin(phase)
}

// tell tells the share of all work that is done, and the time left.
func (p *pace) tell() {
	done, total := p.copying.done+p.building.done, p.copying.total+p.building.total
	p.Progress.Done(min(done/total, 1), p.left())
}

// left is the time that the rest takes; negative where nobody knows yet.
func (p *pace) left() time.Duration {
	copied, built := p.copying.elapsed().Seconds(), p.building.elapsed().Seconds()
	if p.copying.done == 0 && p.building.done == 0 {
		return -1
	}
	// A load that was resumed may have nothing to copy: building then shows its own speed alone.
	rate := 0.0 // of copying, in work a second
	if p.copying.done > 0 && copied > 0 {
		rate = p.copying.done / copied
	}
	seconds := 0.0
	if rate > 0 {
		seconds = p.copying.left() / rate
	}
	prior := priorWeight * p.building.total
	switch {
	case rate > 0:
		seconds += p.building.left() * (built + prior/rate) / (p.building.done + prior)
	case p.building.done > 0:
		seconds += p.building.left() * built / p.building.done
	}
	return time.Duration(seconds * float64(time.Second))
}

// Copied is of Progress.
func (p *pace) Copied(table datagen.Table, rows, bytes int64) {
	p.Progress.Copied(table, rows, bytes)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.copying.done += work(rows, bytes)
	p.tell() // under the lock, so that the shares come in order
}

// skipPart leaves out a part that an earlier load has copied: it takes no time now.
func (p *pace) skipPart(part datagen.Part) {
	p.mu.Lock()
	p.copying.total -= work(part.Rows, part.Bytes)
	p.mu.Unlock()
}

// skipStatement leaves out a statement that takes no time.
func (p *pace) skipStatement(name string) {
	p.mu.Lock()
	p.building.total -= p.statements[name]
	p.statements[name] = 0
	p.mu.Unlock()
}

// Statement is of Progress.
func (p *pace) Statement(phase schema.Phase, statement string, ended bool) {
	p.Progress.Statement(phase, statement, ended)
	if ended {
		p.build(statement, 1)
	}
}

// build notes how much of a statement is done.
func (p *pace) build(statement string, share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	more := max(share*p.statements[statement]-p.built[statement], 0)
	p.built[statement] += more
	p.building.done += more
	p.tell()
}

// pollProgress asks how far statements are until ctx ends.
func (p *pace) pollProgress(ctx context.Context, e store.Loader) {
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
			p.Progress.Built(name, share)
			p.build(name, share)
		}
	}
}

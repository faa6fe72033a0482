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

// pace is a Watcher before the user's: it computes from what both are told how much of the whole load is done. The unit is
// the time that it takes to copy a row.
type pace struct {
	Watcher
	mu          sync.Mutex
	total, done float64
	statements  map[string]float64 // cost, by name
	built       map[string]float64 // of that, what is done already
}

// newPace computes what is to be done.
func newPace(w Watcher, parts []datagen.Part, statements []schema.Statement) *pace {
	p := &pace{Watcher: w, statements: map[string]float64{}, built: map[string]float64{}}
	rows := map[string]float64{}
	for _, part := range parts {
		rows[string(part.Table)] += float64(part.Rows)
		p.total += float64(part.Rows)
	}
	for _, s := range statements {
		p.statements[s.Name] = s.Cost * rows[s.Table]
		p.total += p.statements[s.Name]
	}
	return p
}

// advance notes work as done and tells the share of all work that now is.
func (p *pace) advance(work float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += work
	p.Watcher.Done(min(p.done/p.total, 1)) // under the lock, so that the shares come in order
}

// Copied is of Watcher.
func (p *pace) Copied(table datagen.Table, rows, bytes int64) {
	p.Watcher.Copied(table, rows, bytes)
	p.advance(float64(rows))
}

// skip leaves out what an earlier load has done: it takes no time now.
func (p *pace) skip(work float64) {
	p.mu.Lock()
	p.total -= work
	p.mu.Unlock()
}

// Statement is of Watcher.
func (p *pace) Statement(phase schema.Phase, statement string, ended bool) {
	p.Watcher.Statement(phase, statement, ended)
	if ended {
		p.build(statement, 1)
	}
}

// build notes how much of a statement is done.
func (p *pace) build(statement string, share float64) {
	p.mu.Lock()
	now := share * p.statements[statement]
	work := max(now-p.built[statement], 0)
	p.built[statement] += work
	p.mu.Unlock()
	p.advance(work)
}

// watchProgress asks how far statements are until ctx ends.
func (p *pace) watchProgress(ctx context.Context, e store.Loader) {
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
			p.Watcher.Built(name, share)
			p.build(name, share)
		}
	}
}

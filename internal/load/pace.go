package load

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"time"

	"ds2/datagen"
	"ds2/schema"
)

// BuildWatcher is an Engine that can tell how far the indexes are that are being built.
type BuildWatcher interface {
	// Builds gives the share that is done, 0 to 1, of each statement under way that builds an index, by its SQL.
	Builds(ctx context.Context) (map[string]float64, error)
}

// buildsEvery is how often a BuildWatcher is asked.
const buildsEvery = time.Second

// pace is a Watcher before the user's: it reckons from what both are told how much of the whole load is done. The unit is
// the time that it takes to copy a row.
type pace struct {
	Watcher
	mu          sync.Mutex
	total, done float64
	statements  map[string]float64 // cost, by name
	built       map[string]float64 // of that, what is done already
}

// statementTable finds the table that a statement works on.
var statementTable = regexp.MustCompile(`(?:^(VACUUM FREEZE|ANALYZE|ALTER TABLE)| ON) (\w+)`)

// costs are what a statement costs for each row of its table, next to copying it, as measured with size M on PostgreSQL 15.
var costs = []struct {
	sql  *regexp.Regexp
	cost float64
}{
	{regexp.MustCompile(`^CREATE .*USING gin`), 3},
	{regexp.MustCompile(`(?i)^CREATE (UNIQUE )?(CLUSTERED |NONCLUSTERED )?INDEX`), 1},
	{regexp.MustCompile(`VALIDATE CONSTRAINT`), 0.5},
	{regexp.MustCompile(`^VACUUM`), 0.3},
}

// cost is what a statement is expected to take; next to nothing where nothing is known.
func cost(sql string, rows map[string]float64) float64 {
	table := statementTable.FindStringSubmatch(sql)
	if table == nil {
		return 0
	}
	for _, c := range costs {
		if c.sql.MatchString(sql) {
			return c.cost * rows[strings.ToLower(table[2])]
		}
	}
	return 0
}

// newPace reckons what is to be done.
func newPace(w Watcher, parts []datagen.Part, statements []schema.Statement) *pace {
	p := &pace{Watcher: w, statements: map[string]float64{}, built: map[string]float64{}}
	rows := map[string]float64{}
	for _, part := range parts {
		rows[string(part.Table)] += float64(part.Rows)
		p.total += float64(part.Rows)
	}
	for _, s := range statements {
		p.statements[s.Name()] = cost(s.SQL, rows)
		p.total += p.statements[s.Name()]
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

// skip leaves out of the reckoning what an earlier load has done: it takes no time now.
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

// watchBuilds asks how far indexes are until ctx ends.
func (p *pace) watchBuilds(ctx context.Context, e BuildWatcher) {
	tick := time.NewTicker(buildsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		builds, err := e.Builds(ctx)
		if err != nil {
			return // it is only for show
		}
		for sql, share := range builds {
			name := schema.Statement{SQL: sql}.Name()
			p.Watcher.Built(name, share)
			p.build(name, share)
		}
	}
}

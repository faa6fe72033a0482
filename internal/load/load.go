// Package load brings a dataset into a store: database, tables, data, indexes, procedures,
// statistics, in this order and as many of each concurrently as may be. What the SQL is stands in
// package schema, how an engine takes rows in package store and below, and how progress looks is
// for the caller.
package load

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/schema"
)

// Options say what to load and how.
type Options struct {
	Dataset workload.Dataset
	Version string // of the kit

	Drop   bool // data of the same workload that is there is dropped first
	Resume bool // a load of the same dataset that was not finished is continued

	AtOnce int // parts and statements run concurrently; 0: as many as CPUs and memory allow
	// Server gives the bytes and CPUs that the server may use, 0 where unknown, once the database
	// exists; may be nil.
	Server func(ctx context.Context, s store.Database) (memory int64, cpus float64)
	Chosen func(sessions int, memory int64) // is told what was chosen for AtOnce; may be nil

	// Schema is what else the SQL depends on: database and size are filled in. Where it names files
	// for the server to read, one for each part of the dataset, nothing is streamed to it.
	Schema schema.Params

	Progress Progress // may be nil
}

// Progress is told how a load proceeds. Its methods are called from several goroutines at once.
type Progress interface {
	// Copied tells that more of a table has been handed to the server, or, with 0 bytes, that it
	// was there already.
	Copied(table datagen.Table, rows, bytes int64)

	// Statement tells that a statement of a phase begins, or has ended.
	Statement(phase schema.Phase, statement string, ended bool)

	// Tell tells what the load is at, and how much of the whole is done: progress.Tell.
	Tell(doing string, done, total int64)
}

// Run loads a dataset. A database that holds data of the workload is refused unless Drop or Resume
// says otherwise, and so is one of another workload; nothing but the workload's own objects is ever
// dropped.
func Run(ctx context.Context, e store.Database, o Options) (*Report, error) {
	if d, ok := o.Dataset.(workload.PerTarget); ok {
		o.Dataset = d.For(e.Label())
	}
	parts := o.Dataset.Parts(e.Engine())
	l := &loader{
		engine:  e,
		options: o,
		parts:   parts,
		report:  newReport(parts),
		params:  o.Dataset.Params(o.Schema),
	}
	l.params.Database = e.Name()
	start := time.Now()
	var err error
	if l.report.LeftOut, err = e.Adapt(ctx, &l.params); err != nil {
		return l.report, fmt.Errorf("load: %w", err)
	}
	phases := []schema.Phase{
		schema.Database, schema.Tables, schema.Data,
		schema.Indexes, schema.Procedures, schema.Statistics,
	}
	l.phases = map[schema.Phase][]schema.Statement{}
	var statements []schema.Statement
	for _, phase := range append(phases, schema.Drop) {
		l.phases[phase], err = schema.Statements(e.Engine(), phase, l.params)
		if err != nil {
			return l.report, fmt.Errorf("load: %w", err)
		}
		statements = append(statements, l.phases[phase]...)
	}
	l.course = newCourse(cmp.Or[Progress](o.Progress, NoProgress{}), parts, statements)
	for _, phase := range phases {
		began := time.Now()
		l.course.updateProgress(func() { l.course.phase = phase })
		if err := l.runPhase(ctx, phase); err != nil {
			return l.report, fmt.Errorf("load %s: %w", phase, err)
		}
		l.report.Phases = append(l.report.Phases, PhaseTime{phase, time.Since(began)})
	}
	if err := l.noteFinished(ctx); err != nil {
		return l.report, fmt.Errorf("finish load: %w", err)
	}
	l.report.Elapsed = time.Since(start)
	return l.report, nil
}

// loader is one load under way. Phases run one after the other, what is in a phase concurrently.
type loader struct {
	engine  store.Database
	options Options
	parts   []datagen.Part
	params  schema.Params
	phases  map[schema.Phase][]schema.Statement
	course  *course
	report  *Report
	done    map[string]int64 // steps that an earlier load did, with the rows that they copied
}

// runPhase runs the statements of a phase, and what else it takes.
func (l *loader) runPhase(ctx context.Context, phase schema.Phase) error {
	switch phase {
	case schema.Database:
		return l.createDatabase(ctx)
	case schema.Tables:
		return l.createTables(ctx)
	case schema.Data:
		return l.copyParts(ctx)
	}
	return l.runSteps(ctx, phase)
}

// createDatabase makes the database where it is not there, and chooses by the server's memory and
// processors how much is done at once: before there is a database, its server cannot be asked.
func (l *loader) createDatabase(ctx context.Context) error {
	if err := l.engine.CreateDatabase(ctx, l.phases[schema.Database]); err != nil {
		return err
	}
	memory := int64(0)
	cpus := 0.0
	if l.options.Server != nil {
		memory, cpus = l.options.Server(ctx, l.engine)
	}
	if l.options.AtOnce == 0 {
		l.options.AtOnce = Sessions(runtime.NumCPU(), memory)
		if l.options.Chosen != nil {
			l.options.Chosen(l.options.AtOnce, memory)
		}
	}
	if e, ok := l.engine.(interface {
		SetBuilds(wanted, most int64, serial bool)
	}); ok {
		serial := 0 < cpus && cpus <= serialBuilds && cpus <= float64(l.options.AtOnce)
		e.SetBuilds(sessionMemory, memory/4/int64(l.options.AtOnce), serial)
	}
	return nil
}

// sessionMemory is what a session of a load takes of the server where it has it, such as to sort an
// index. Of a server of little memory all sessions take a quarter, or the kernel ends it.
const sessionMemory = 256 << 20

// serialBuilds is up to how many CPUs of the server the builds of indexes keep at work by running
// side by side: all of them take three times as long as the longest. Workers that share a build
// only cost there: each sorts its share onto a tape, which the process that began the build must
// read and merge. Two builds of size W took 81 s and 148 s of CPU with workers on two CPUs, 73 s
// and 119 s without.
const serialBuilds = 3

// Sessions is how many parts and statements run concurrently by default: as many as this machine
// has CPUs, and at least two, but no more than the server has memory for; 0: unknown.
func Sessions(cpus int, serverMemory int64) int {
	n := max(2, cpus)
	if serverMemory > 0 {
		n = min(n, int(serverMemory/2/sessionMemory))
	}
	return max(n, 1)
}

// createTables makes the tables, unless a load that is continued has made them. They come into
// being in one transaction with the note of what is loaded into them: a database holds all tables
// of the workload and the note, or nothing.
func (l *loader) createTables(ctx context.Context) error {
	held, err := l.heldTables(ctx)
	if err == nil && len(held) > 0 {
		err = l.mayReplace(ctx, held)
	}
	if err == nil {
		err = l.checkRoom(ctx, len(held) > 0)
	}
	if err == nil && len(held) > 0 {
		if l.options.Resume {
			return l.readUnfinished(ctx)
		}
		err = l.inTransaction(ctx, l.phases[schema.Drop])
	}
	if err != nil {
		return err
	}
	statements := slices.Clone(l.phases[schema.Tables])
	for name, value := range l.loadInfo() {
		note := schema.Note("note", map[string]string{"Name": name, "Value": value})
		statements = append(statements, schema.Statement{Name: "note what is loaded", SQL: note})
	}
	return l.inTransaction(ctx, statements)
}

// loadInfo is what is noted of the dataset while it is loaded.
func (l *loader) loadInfo() store.Info {
	info := l.options.Dataset.Info()
	info[store.InfoState] = store.StateLoading
	info[store.InfoVersion] = l.options.Version
	return info
}

// inTransaction runs statements in one transaction.
func (l *loader) inTransaction(ctx context.Context, statements []schema.Statement) error {
	tx, err := l.engine.DB().BeginTx(ctx, nil)
	if err != nil {
		return l.engine.Wrap("begin", err)
	}
	defer tx.Rollback() // does nothing after Commit
	for _, s := range statements {
		if _, err := tx.ExecContext(ctx, s.SQL); err != nil {
			// A transaction that ended with its context says only that it ended.
			return l.engine.Wrap(s.Name, cmp.Or(ctx.Err(), err))
		}
	}
	if err := tx.Commit(); err != nil {
		return l.engine.Wrap("commit", cmp.Or(ctx.Err(), err))
	}
	return nil
}

// noteFinished notes, as the very last step, that the load is whole.
func (l *loader) noteFinished(ctx context.Context) error {
	ready := map[string]string{"Name": store.InfoState, "Value": store.StateReady}
	if err := l.noteSchema(ctx); err != nil {
		return err
	}
	return l.inTransaction(ctx, []schema.Statement{
		{Name: "drop table ds2_steps", SQL: schema.Note("drop steps", nil)},
		{Name: "note that all is loaded", SQL: schema.Note("note again", ready)},
	})
}

// NoProgress is the progress of those who do not follow it.
type NoProgress struct{}

// Copied does nothing.
func (NoProgress) Copied(datagen.Table, int64, int64) {}

// Statement does nothing.
func (NoProgress) Statement(schema.Phase, string, bool) {}

// Tell does nothing.
func (NoProgress) Tell(string, int64, int64) {}

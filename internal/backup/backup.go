// Package backup measures how fast database servers read all that a backup reads, the backups going nowhere: all
// servers at once, with what the drives did meanwhile.
package backup

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"ds2/internal/monitor"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/store"
)

// Options are one backup test and its record.
type Options struct {
	Targets []store.Database

	Dir     string // of the record; must not exist or be empty
	RunID   string
	Version string // of the kit
	Command *result.Command

	Observer *monitor.Observer // of the machine and the databases; nil: none
	Tell     progress.Tell     // is told how many bytes are read
}

// Run reads all databases at once, each unit that a server backs up once, and keeps the record, also of a test that
// failed.
func Run(ctx context.Context, o Options) (result.Backup, error) {
	r := result.Backup{
		KitVersion: o.Version, RunID: o.RunID, Status: result.Running, Start: time.Now(), Command: o.Command,
		Engine: o.Targets[0].Engine(),
	}
	for _, t := range o.Targets {
		r.Targets = append(r.Targets, t.Label())
	}
	units, err := unitsOf(ctx, o.Targets)
	if err != nil {
		return r, err
	}
	if err := result.MakeDir(o.Dir); err != nil {
		return r, err
	}
	if err := result.SaveSummary(o.Dir, r); err != nil {
		return r, err
	}
	watch, err := observe(o)
	if err != nil {
		r.Status, r.Error = result.Failed, err.Error()
		return r, errors.Join(err, result.SaveSummary(o.Dir, r))
	}
	if r.Start = time.Now(); watch != nil {
		r.Start = watch.start
	}
	err = readAll(ctx, units, o.Tell)
	r.End = time.Now()
	err = errors.Join(err, watch.end())
	for _, u := range units {
		r.Units = append(r.Units, u.result())
		r.Bytes += u.read.Bytes
		r.Seconds = max(r.Seconds, u.read.Seconds)
	}
	r.MBPerSecond = store.MBPerSecond(r.Bytes, r.Seconds)
	if watch != nil {
		r.Machine = o.Observer.Machine
		r.Volumes = monitor.Drives{Counters: watch.table, Machine: r.Machine, From: r.Start, To: time.Now()}.Volumes()
	}
	switch {
	case err == nil:
		r.Status = result.Done
	case ctx.Err() != nil:
		r.Status = result.Interrupted
	default:
		r.Status, r.Error = result.Failed, err.Error()
	}
	return r, errors.Join(err, result.SaveSummary(o.Dir, r))
}

// unit is what one backup reads.
type unit struct {
	reader  store.BackupReader
	targets []store.Database
	read    store.Backup
}

func (u *unit) result() result.BackupUnit {
	b := result.BackupUnit{Backup: u.read, MBPerSecond: store.MBPerSecond(u.read.Bytes, u.read.Seconds)}
	for _, t := range u.targets {
		b.Targets = append(b.Targets, t.Label())
	}
	return b
}

// unitsOf puts the targets together that one backup reads.
func unitsOf(ctx context.Context, targets []store.Database) ([]*unit, error) {
	var units []*unit
	names := map[string]*unit{}
	for _, t := range targets {
		reader := t.Can().Backup
		if reader == nil {
			return nil, store.Cannot(t, "backups to nowhere")
		}
		name, err := reader.BackupUnit(ctx)
		if err != nil {
			return nil, err
		}
		if names[name] == nil {
			names[name] = &unit{reader: reader}
			units = append(units, names[name])
		}
		names[name].targets = append(names[name].targets, t)
	}
	return units, nil
}

// readAll reads all units at once. The first that fails ends the others.
func readAll(ctx context.Context, units []*unit, tell progress.Tell) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	at := progressOf(len(units), tell)
	failed := make([]error, len(units))
	var readers sync.WaitGroup
	for i, u := range units {
		readers.Go(func() {
			var err error
			if u.read, err = u.reader.ReadBackup(ctx, func(done, total int64) { at(i, done, total) }); err != nil {
				failed[i] = err
				cancel()
			}
		})
	}
	readers.Wait()
	// What the first failure canceled says nothing.
	for _, err := range failed {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(failed...)
}

// progressOf puts together how far the units are. What is to be read may turn out to be more.
func progressOf(units int, tell progress.Tell) (at func(unit int, done, total int64)) {
	var mu sync.Mutex
	done, total := make([]int64, units), make([]int64, units)
	return func(unit int, read, of int64) {
		mu.Lock()
		defer mu.Unlock()
		done[unit], total[unit] = read, of
		var sum, all int64
		for i := range done {
			sum += done[i]
			all += total[i]
		}
		tell("read a backup", sum, all)
	}
}

// watch samples the drives and the servers into the record; nil where nobody observes.
type watch struct {
	start  time.Time // of what is counted
	table  monitor.Table
	writer *result.HostWriter
	last   atomic.Pointer[time.Time] // of which a sample is still waited for; nil: the test goes on
	done   chan struct{}
}

// observe begins to sample, and returns once the counters were read from which all is counted, late as a busy machine
// may read them.
func observe(o Options) (*watch, error) {
	if o.Observer == nil {
		return nil, nil
	}
	sampler := monitor.NewSampler(slog.New(slog.DiscardHandler), o.Observer.Sources...)
	begin := time.Now()
	w := &watch{start: begin.Add(monitor.Interval), done: make(chan struct{})}
	w.table.Columns = sampler.Columns()
	var err error
	if w.writer, err = result.CreateHost(o.Dir, w.table.Columns, w.start); err != nil {
		return nil, err
	}
	counted := make(chan struct{})
	go func() {
		defer close(w.done)
		ctx, cancel := context.WithCancel(context.Background())
		sampler.Run(ctx, begin, func(row monitor.Row) {
			if !row.Time.After(w.start) {
				close(counted)
				return
			}
			w.writer.Row(row)
			w.table.Rows = append(w.table.Rows, row)
			if last := w.last.Load(); last != nil && !row.Time.Before(*last) {
				cancel()
			}
		})
	}()
	<-counted
	return w, nil
}

// end ends the sampling, with the sample of the second under way.
func (w *watch) end() error {
	if w == nil {
		return nil
	}
	w.last.Store(new(time.Now()))
	<-w.done
	return w.writer.Close()
}

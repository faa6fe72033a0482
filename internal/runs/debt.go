package runs

import (
	"context"
	"math"
	"time"

	"ds2/internal/driver"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/store"
)

// A server that puts work off looks faster than one that does it at once, until the work has to be done. So a run can
// end with it: the servers do their deferred work, and the record has the time and the I/Os of that.

// CheckDeferred is an error where a target cannot be made to do the work that it has deferred.
func CheckDeferred(ctx context.Context, targets []store.Database) error {
	return store.May(ctx, targets, "its deferred work", func(c store.Capabilities) func(context.Context) error {
		if c.Deferred == nil {
			return nil
		}
		return c.Deferred.CheckDeferred
	})
}

// apart keeps the samples of that work apart from those of what was before and after it.
const apart = monitor.Interval

// payDebt has the targets do their deferred work, one after the other. What keeps them from it stands in the record,
// and the run is what it was; the error is only that it was stopped.
func (r *Run) payDebt(stop context.Context, start time.Time) error {
	if !r.options.Debt || !progress.Pause(stop, apart) {
		return nil
	}
	debt := &result.Debt{Older: !r.options.CheckpointFirst}
	r.summary.Debt = debt
	for _, target := range r.options.Targets {
		var began time.Time
		end := func() {
			if !began.IsZero() {
				step := &debt.Steps[len(debt.Steps)-1]
				step.Seconds = time.Since(began).Seconds()
				r.log.Info("did deferred work", "target", step.Target, "step", step.Name, "seconds", step.Seconds)
			}
		}
		done, err := target.Can().Deferred.DoDeferred(stop, func(name string) {
			end()
			began = time.Now()
			step := result.DebtStep{Target: target.Label(), Name: name, At: began.Sub(start).Seconds()}
			debt.Steps = append(debt.Steps, step)
			r.doing.Store("deferred work: " + name)
		})
		end()
		debt.RowsBefore, debt.RowsAfter = debt.RowsBefore+done.Before, debt.RowsAfter+done.After
		if err != nil {
			debt.Error = err.Error()
			break
		}
	}
	r.doing.Store("")
	for _, step := range debt.Steps {
		debt.Seconds += step.Seconds
	}
	if stop.Err() != nil {
		debt.Error = "it was stopped"
		return driver.ErrStopped
	}
	progress.Pause(stop, 2*apart) // a sample comes at the end of its second
	return nil
}

// Doing is what the run is at when its users have left; empty: nothing that takes long.
func (r *Run) Doing() string {
	doing, _ := r.doing.Load().(string)
	return doing
}

// addDebt adds what the drives did in the steps of a debt. A sample of a second counts for each step by its share of
// that second.
func addDebt(t monitor.Table, s *result.Summary) {
	d := s.Debt
	if d == nil || len(d.Steps) == 0 {
		return
	}
	at := func(seconds float64) time.Time { return s.Start.Add(measure.Seconds(seconds)) }
	last := d.Steps[len(d.Steps)-1]
	// A first step that begins late in a second takes all of that: nobody was at work in it.
	begin, end := at(d.Steps[0].At).Add(-apart), at(last.At+last.Seconds).Add(apart)
	from := begin
	for i := range d.Steps {
		to := end
		if i+1 < len(d.Steps) {
			to = at(d.Steps[i+1].At)
		}
		d.Steps[i].IO = ioOf(t, from, to)
		from = to
	}
	d.IO = ioOf(t, begin, end)
}

// ioOf is what all drives did in a time.
func ioOf(t monitor.Table, from, to time.Time) result.IO {
	of := func(column string) *float64 { return amount(t, column, from, to) }
	return result.IO{
		Reads: of(monitor.DiskReads), ReadBytes: of(monitor.DiskReadBytes),
		Writes: of(monitor.DiskWrites), WrittenBytes: of(monitor.DiskWrittenBytes),
	}
}

// amount is the integral of a rate a second over a time, of all items; nil where it was not measured.
func amount(t monitor.Table, column string, from, to time.Time) (sum *float64) {
	for _, item := range t.Items(column) {
		values := t.Values(item)
		for i, row := range t.Rows {
			share := min(monitor.Interval, row.Time.Sub(from), to.Sub(row.Time)+monitor.Interval).Seconds()
			if share <= 0 || math.IsNaN(values[i]) {
				continue
			}
			if sum == nil {
				sum = new(float64)
			}
			*sum += share * values[i]
		}
	}
	return sum
}

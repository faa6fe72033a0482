package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"ds2/internal/driver"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/upkeep"
)

// Conduct is how a run is shown and what follows it.
type Conduct struct {
	// Locked is done when the lock of a database was lost, with the reason as its cause: the run
	// under way ends, and counts for nothing.
	Locked context.Context

	// Restart restarts the targets' server before the deep check, so that pages are read from the
	// drive; nil: it goes on.
	Restart func(context.Context) error

	Show     func(*Run) (end func(result.Summary)) // shows a run while it goes on; end: its end
	Judged   func(*Run)                            // is told of a run of a bench that was audited
	Progress progress.View                         // shows the deep check and the audit
	// see Options; also what is damaged and which checks failed
	Tell func(format string, args ...any)
}

// Stop is the two stages in which work ends: nothing new begins when Soft is done, and all work
// ends with Hard, as Soft does.
type Stop struct{ Soft, Hard context.Context }

// MakeRun makes a run, shown while it goes on. There is none where it could not even begin.
func (c Conduct) MakeRun(stop Stop, o Options) (*Run, result.Summary, Outcome) {
	o.Tell = c.Tell
	run, err := Begin(o)
	if err != nil {
		return nil, result.Summary{}, Ended(err)
	}
	end := c.Show(run)
	// What is measured after the lock is lost may be of two programs.
	watched := context.AfterFunc(c.Locked, func() { run.halt(context.Cause(c.Locked)) })
	_, outcome := run.Execute(stop.Hard, stop.Soft)
	watched()
	if lost := c.failIfUnlocked(run); lost != nil {
		outcome = Ended(lost)
	}
	end(run.summary)
	return run, run.summary, outcome
}

// failIfUnlocked marks the run as failed whose database's lock was lost: another ds2 may have
// changed what it measured.
func (c Conduct) failIfUnlocked(run *Run) error {
	lost := context.Cause(c.Locked)
	if lost == nil {
		return nil
	}
	run.summary.Status, run.summary.Error = result.Failed, lost.Error()
	return errors.Join(lost, save(run.options.Dir, &run.summary))
}

// Verify reads the databases of a run to the last page and audits them, as far as that is asked
// for, and adds what it finds to the record. What could not be made is a finding; the error is of
// what ended it.
func (c Conduct) Verify(stop Stop, run *Run) (s result.Summary, err error) {
	how := run.options.Verify
	if how == result.VerifyDeep {
		err = c.checkPages(stop.Soft, run)
	}
	if err != nil && stop.Soft.Err() == nil {
		found := &run.summary.Noticed // saved with the audit
		*found = append(*found, result.NewFinding(result.DeepCheckNotMade, err.Error()))
		err = nil
	}
	if how != result.VerifyNone && err == nil {
		err = c.audit(stop.Soft, run)
	}
	// Whatever was found then may be of what another ds2 did.
	err = cmp.Or(c.failIfUnlocked(run), err)
	return run.summary, err
}

// checkPages reads every page of the run's databases and tells what is damaged.
func (c Conduct) checkPages(ctx context.Context, run *Run) error {
	if c.Restart != nil {
		if err := c.Restart(ctx); err != nil {
			return err
		}
		// A restarted server has emptied its cache, so the check reads from the drives.
		for _, target := range run.options.Databases {
			target.DB().SetMaxIdleConns(0) // those are connections to the server that was
		}
	}
	tell, stop := c.Progress("verify", progress.Work)
	checks, err := upkeep.DeepCheck(ctx, run.options.Databases, run.options.Observer, tell)
	stop()
	if err != nil {
		return err
	}
	for _, s := range checks {
		for _, d := range s.Damage {
			c.Tell("damaged: %s: %s", strings.TrimSpace(d.Object+" "+d.Place), d.Found)
		}
	}
	run.summary.DeepChecks = checks
	return save(run.options.Dir, &run.summary)
}

// audit audits what the run left behind and tells each check that did not pass.
func (c Conduct) audit(ctx context.Context, run *Run) error {
	tell, stop := c.Progress("verify", progress.Bytes)
	audit, err := run.Audit(ctx, tell)
	stop()
	for _, k := range audit.Checks {
		if !k.Passed {
			c.Tell("audit of %s failed: %s: expected %s, found %s", k.Target, k.Name, k.Expected,
				k.Found)
		}
	}
	if audit.NotAudited != "" && ctx.Err() == nil {
		return nil // which is a finding
	}
	return err
}

// interrupted says that what follows a run was stopped, and not for a lock that was lost.
func (c Conduct) interrupted(stop Stop) bool {
	return stop.Soft.Err() != nil && c.Locked.Err() == nil
}

// BenchRun makes a run of a bench: that of the options, each with a separate seed.
func (c Conduct) BenchRun(stop Stop, o Options, dir string, place Place) (result.Summary, error) {
	o.Dir = dir
	o.Place = place
	o.RunID = fmt.Sprintf("%s-%d", o.RunID, place.Number) // which the databases are marked with
	// Runs with one seed would buy the same products in the same order, which caches would keep.
	o.Seed += uint64(place.Number - 1)
	run, summary, outcome := c.MakeRun(stop, o)
	if !outcome.Status.CameToEnd() {
		return summary, outcome.Err
	}
	summary, err := c.Verify(stop, run)
	c.Judged(run)
	if err != nil && c.interrupted(stop) { // what was measured is kept, for VerifyRecord
		err = driver.ErrStopped
	}
	return summary, err
}

// VerifyRecord is Verify for the run of a record whose audit was cut off. Its databases must be as
// the run left them.
func (c Conduct) VerifyRecord(stop Stop, o Options, dir string) (s result.Summary, err error) {
	if s, err = result.ReadSummary[result.Summary](dir); err != nil {
		return s, err
	}
	o.Dir = dir
	run := &Run{options: o, summary: s}
	now, err := run.readMarks(stop.Soft, stop.Soft, true)
	switch {
	case stop.Soft.Err() != nil:
		return s, driver.ErrStopped
	case err != nil:
		return s, err
	// Marks that moved on mean that others worked on the database since.
	case !reflect.DeepEqual(now, s.After):
		s.Audit = &result.Audit{
			NotAudited: "its audit was interrupted, and the database has changed since",
			Checks:     []result.Check{},
		}
		err = save(dir, &s)
		return s, err
	}
	if s, err = c.Verify(stop, run); c.interrupted(stop) {
		err = driver.ErrStopped
	}
	return s, err
}

package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ds2/internal/durability"
	"ds2/internal/load"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
)

// Verification audits databases apart from a run.
type Verification struct {
	Targets  []store.Database
	Workload func(ctx context.Context, target store.Database) (workload.Workload, error)
	How      workload.Audit

	Record *result.Record // of the run that was the last to change them; nil: none
	Dirs   []string       // of the records of its driver machines

	DeepChecks []store.DeepCheck // that were made before, of each target; the record gets them
}

// Audit audits the databases one after the other. A record gets the result where it was not
// audited, or where the audit or a deep check fails that came later.
// What the record does not serve for is a *workload.Refusal. With an error come the checks that
// were made before it.
func (v Verification) Audit(ctx context.Context) (audit result.Audit, err error) {
	audit.Whole = v.How.Whole
	audit.Checks, err = v.checks(ctx)
	audit.Passed = err == nil && result.Passed(audit.Checks)
	// Of a run of several driver machines no single record has the whole audit.
	if len(v.Dirs) != 1 {
		return audit, err
	}
	r := v.Record
	// An audit that passed stays what it was: only a failure that came later is news.
	learnt := err == nil && (r.Audit == nil || r.Audit.NotAudited != "" || !audit.Passed)
	if learnt {
		r.Audit = &audit
	}
	if len(v.DeepChecks) > 0 {
		r.DeepChecks = v.DeepChecks
	}
	if learnt || len(v.DeepChecks) > 0 {
		err = errors.Join(err, save(r.Dir, &r.Summary))
	}
	return audit, err
}

func (v Verification) checks(ctx context.Context) (all []result.Check, err error) {
	for _, target := range v.Targets {
		checks, err := v.auditTarget(ctx, target)
		all = append(all, checks...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// auditTarget audits a database, and compares with it what the run's driver machines noted as
// acknowledged.
func (v Verification) auditTarget(
	ctx context.Context,
	target store.Database,
) (checks []result.Check, err error) {
	how := v.How
	index := 0
	paths := []string(nil)
	if v.Record != nil {
		r := v.Record
		// A record says what happened to each of its databases by their order.
		if index = slices.Index(r.Targets, target.Label()); index < 0 {
			return nil, workload.Refuse("record: run %s was against %s, not %s", r.RunID, r.Targets,
				target.Label())
		}
		if err := refuseEarlierRun(ctx, target, r); err != nil {
			return nil, err
		}
		if paths, err = v.journals(); err != nil {
			return nil, err
		}
		if how.Run, err = v.account(index, len(paths) > 0); err != nil {
			return nil, err
		}
	}
	w, err := v.Workload(ctx, target)
	if err != nil {
		return nil, err
	}
	if len(paths) > 0 {
		if checks, err = v.compare(ctx, w, target, index, paths); err != nil {
			return nil, err
		}
	}
	if how.Whole {
		if checks, err = addSchemaCheck(ctx, checks, target); err != nil {
			return checks, err
		}
	}
	more, err := w.Audit(ctx, target, how)
	if checks = append(checks, more...); err == nil {
		v.note(ctx, target, checks)
	}
	return checks, err
}

// maxNamed is how many things that are wrong a check names.
const maxNamed = 10

// addSchemaCheck adds whether the schema is as the load made it, where the load noted that.
func addSchemaCheck(
	ctx context.Context,
	checks []result.Check,
	target store.Database,
) ([]result.Check, error) {
	changes, noted, err := load.ReadSchemaChanges(ctx, target)
	if err != nil || !noted {
		return checks, err
	}
	found := fmt.Sprint(len(changes))
	if len(changes) > 0 {
		var texts []string
		for _, c := range changes[:min(len(changes), maxNamed)] {
			texts = append(texts, c.Words())
		}
		found += ": " + strings.Join(texts, "; ")
	}
	check := result.NewCheck(target.Label(), "differences of the schema from the load",
		len(changes) == 0, 0, found)
	return append(checks, check), nil
}

// noteRun notes in each database which run is the last to work on it, and from when on. One that
// does not take the note can be driven nevertheless.
func (r *Run) noteRun(ctx context.Context) {
	note := r.options.RunID + " " + time.Now().UTC().Format(time.RFC3339)
	for i, target := range r.options.Databases {
		if r.surroundings.before.info[i] == nil {
			continue // ds2 did not load it
		}
		if err := store.SetInfo(ctx, target.DB(), store.InfoLastRun, note); err != nil {
			r.log.Info("the run's ID is not noted", "target", target.Label(), "error", err)
		}
	}
}

// refuseEarlierRun refuses the record of a run after which another worked on the database: what
// that one did is not in the record. The note may be of an earlier run, where a later one could not
// write its own.
func refuseEarlierRun(ctx context.Context, target store.Database, r *result.Record) error {
	info, err := store.ReadInfo(ctx, target.DB())
	if err != nil {
		return nil // ds2 did not load it
	}
	last, began, _ := strings.Cut(info[store.InfoLastRun], " ")
	from, err := time.Parse(time.RFC3339, began)
	if err != nil || last == r.RunID || r.Start.IsZero() || from.Before(r.Start) {
		return nil
	}
	return workload.Refuse("record: run %s worked on %s after run %s, and the record of the "+
		"one does not say what the other did; name the record of run %[1]s",
		last, target.Label(), r.RunID)
}

// note notes in a database that its audit failed, of which later runs warn, and forgets it when the
// whole has passed. A server that does not take the note does not change what the audit found.
func (v Verification) note(ctx context.Context, target store.Database, checks []result.Check) {
	info, err := store.ReadInfo(ctx, target.DB())
	if err != nil {
		return // ds2 did not load it
	}
	failed := ""
	for _, c := range checks {
		if !c.Passed {
			failed = fmt.Sprintf("%s: expected %s, found %s", c.Name, c.Expected, c.Found)
			break
		}
	}
	if failed == "" && (!v.How.Whole || info[store.InfoFailed] == "") {
		return
	}
	if err := store.SetInfo(ctx, target.DB(), store.InfoFailed, failed); err != nil &&
		v.How.Warn != nil {
		v.How.Warn(
			fmt.Sprintf("%s does not keep whether its audit passed: %v", target.Label(), err))
	}
}

// account is what the record says of a target. A run that did not get to its end says nothing but
// what its journal does.
func (v Verification) account(i int, journal bool) (*workload.Account, error) {
	r := v.Record
	// A record that is complete has the counts and marks of each target, in their order.
	switch {
	case r.Status != result.Running && i < min(len(r.ByTarget), len(r.Before), len(r.After)):
		return &workload.Account{
			Counts: r.ByTarget[i].Counts,
			Before: r.Before[i],
			After:  r.After[i],
			Target: i,
			Dirs:   v.Dirs,
		}, nil
	case journal && i < len(r.Before):
		return nil, nil
	}
	return nil, workload.Refuse(
		"record: run %s did not get to its end and has no journal, so it is not known what it "+
			"did; leave out --record",
		r.RunID)
}

// journals are the files in which the driver machines noted what was acknowledged; none where none
// was kept. One of several that is missing is an error, because its work would be strange.
func (v Verification) journals() (paths []string, err error) {
	without := ""
	for _, dir := range v.Dirs {
		path := filepath.Join(dir, durability.File)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			without = dir
		} else {
			paths = append(paths, path)
		}
	}
	if without != "" && len(paths) > 0 {
		return nil, workload.Refuse("record: %s has no journal, and others of its run have: "+
			"give every driver machine --journal", without)
	}
	return paths, nil
}

// compare compares the journals with what a target holds.
func (v Verification) compare(
	ctx context.Context, w workload.Workload, target store.Database, index int, paths []string,
) ([]result.Check, error) {
	acknowledger, keeps := w.(workload.Acknowledger)
	if !keeps {
		return nil, workload.Refuse("record: %s has a journal, and workload %s keeps none",
			v.Dirs[0], w.Name())
	}
	// A run that was killed may have done what it could not note: at most one order per user.
	noted := workload.Noted{Target: index, Before: v.Record.Before[index]}
	if v.Record.Status == result.Running {
		noted.Untold = v.Record.Threads
	}
	entries, torn, err := durability.Read(acknowledger, paths...)
	if err != nil {
		return nil, err
	}
	// What was acknowledged and is not there was lost by the server or by its drive.
	checks, err := acknowledger.CheckJournal(ctx, target, entries, noted)
	if torn > 0 { // the power of ds2's machine was cut too: what came before the tear is evidence
		const what = "bytes of a torn last entry of the journal, left out"
		checks = append(checks, result.NewCheck(target.Label(), what, true, "any", torn))
	}
	return checks, err
}

// keepJournal begins the journal of what the targets acknowledge.
func (r *Run) keepJournal(w workload.Workload) (err error) {
	acknowledger, ok := w.(workload.Acknowledger)
	keeper, keeps := r.play.(workload.Keeper)
	if !ok || !keeps {
		return fmt.Errorf("keep a journal: runs of workload %s have none", w.Name())
	}
	header, _ := acknowledger.Journal()
	if r.journal, err = durability.Create(filepath.Join(r.options.Dir, durability.File),
		header); err == nil {
		keeper.Keep(r.journal)
	}
	return err
}

// Audit asks every target whether it holds what the run says it did, and adds the answers to the
// record. It follows Execute; tell is told how many bytes have been read of one target after the
// other. An audit that cannot be made is noted in the record with the reason.
func (r *Run) Audit(ctx context.Context, tell progress.Tell) (result.Audit, error) {
	var checks []result.Check
	err := r.unmarked
	if err == nil {
		checks, err = Verification{
			Targets: r.options.Databases,
			Workload: func(context.Context, store.Database) (workload.Workload, error) {
				return r.options.Plan.Workload(), nil
			},
			How:    workload.Audit{Tell: tell},
			Record: &result.Record{Summary: r.summary},
			Dirs:   []string{r.options.Dir},
		}.checks(ctx)
	} else { // without the marks, what the run added cannot be told from what was there
		err = fmt.Errorf("audit what the run added: %w", err)
	}
	audit := result.Audit{Passed: result.Passed(checks), Checks: checks}
	if err != nil {
		audit = result.Audit{NotAudited: err.Error(), Checks: []result.Check{}}
		if ctx.Err() != nil {
			audit.NotAudited = "interrupted"
		}
	}
	r.summary.Audit = &audit
	return audit, errors.Join(err, save(r.options.Dir, &r.summary))
}

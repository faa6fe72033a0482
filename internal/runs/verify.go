package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"ds2/internal/durability"
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
}

// Audit audits the databases one after the other. A record that was not audited gets the result. What the record does
// not serve for is a *workload.Refusal. With an error come the checks that were made before it.
func (v Verification) Audit(ctx context.Context) (audit result.Audit, err error) {
	for _, target := range v.Targets {
		checks, err := v.one(ctx, target)
		audit.Checks = append(audit.Checks, checks...)
		if err != nil {
			return audit, err
		}
	}
	audit.Passed = result.Passed(audit.Checks)
	if r := v.Record; len(v.Dirs) == 1 && (r.Audit == nil || r.Audit.NotAudited != "") {
		r.Audit = &audit
		err = result.SaveSummary(r.Dir, r.Summary)
	}
	return audit, err
}

// one audits a database, and compares with it what the run's driver machines noted as acknowledged.
func (v Verification) one(ctx context.Context, target store.Database) ([]result.Check, error) {
	how := v.How
	if v.Record != nil {
		var err error
		if how.Run, err = v.account(target); err != nil {
			return nil, err
		}
	}
	w, err := v.Workload(ctx, target)
	if err != nil {
		return nil, err
	}
	checks, err := w.Audit(ctx, target, how)
	if err != nil || v.Record == nil {
		return checks, err
	}
	more, err := v.journals(ctx, w, target, how.Run)
	return append(checks, more...), err
}

// account is what the record says of a target.
func (v Verification) account(target store.Database) (*workload.Account, error) {
	r := v.Record
	i := slices.Index(r.Targets, target.Label())
	switch {
	case i < 0:
		return nil, workload.Refuse("record: run %s was against %s, not %s", r.RunID, r.Targets, target.Label())
	case i >= len(r.ByTarget) || i >= len(r.Before) || i >= len(r.After):
		return nil, workload.Refuse("record: run %s did not get to its end, so nobody knows what it did; leave out --record",
			r.RunID)
	}
	return accountOf(&r.Summary, i, v.Dirs), nil
}

// accountOf is what a run's record says of the target of an index.
func accountOf(s *result.Summary, i int, dirs []string) *workload.Account {
	return &workload.Account{
		Counts: s.ByTarget[i].Counts, Before: s.Before[i], After: s.After[i], Target: i, Dirs: dirs,
	}
}

// journals compares what the driver machines noted as acknowledged with what a database holds. Without a journal there
// is nothing to compare; one of several that is missing is an error, because its work would be strange.
func (v Verification) journals(
	ctx context.Context, w workload.Workload, target store.Database, run *workload.Account,
) ([]result.Check, error) {
	var paths, without []string
	for _, dir := range v.Dirs {
		path := filepath.Join(dir, durability.File)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			without = append(without, dir)
		} else {
			paths = append(paths, path)
		}
	}
	acknowledger, keeps := w.(workload.Acknowledger)
	switch {
	case len(paths) == 0:
		return nil, nil
	case len(without) > 0:
		return nil, workload.Refuse("record: %s has no journal, and others of its run have: give every driver machine --journal",
			without[0])
	case !keeps:
		return nil, workload.Refuse("record: %s has a journal, and workload %s keeps none", v.Dirs[0], w.Name())
	}
	return durability.Check(ctx, acknowledger, target, paths, run.Target, run.Before)
}

// Audit asks every target whether it holds what the run says it did, and adds the answers to the record. It follows
// Drive; tell is told how many bytes have been read of one target after the other. An audit that cannot be made is
// noted in the record with the reason.
func (r *Run) Audit(ctx context.Context, tell progress.Tell) (result.Audit, error) {
	checks, err := r.audit(ctx, tell)
	r.summary.Audit = &result.Audit{Passed: result.Passed(checks), Checks: checks}
	if err != nil {
		r.summary.Audit = &result.Audit{NotAudited: err.Error(), Checks: []result.Check{}}
		if ctx.Err() != nil {
			r.summary.Audit.NotAudited = "interrupted"
		}
	}
	return *r.summary.Audit, errors.Join(err, result.SaveSummary(r.options.Dir, r.summary))
}

func (r *Run) audit(ctx context.Context, tell progress.Tell) (checks []result.Check, err error) {
	if r.unmarked != nil {
		return nil, fmt.Errorf("audit what the run added: %w", r.unmarked)
	}
	for i, target := range r.options.Targets {
		found, err := r.options.Plan.Workload().Audit(ctx, target, workload.Audit{
			Run: accountOf(&r.summary, i, []string{r.options.Dir}), Tell: tell,
		})
		if err != nil {
			return nil, err
		}
		checks = append(checks, found...)
	}
	if r.crash != nil {
		target := r.options.Targets[0]
		found, err := r.crash.Lost(ctx, target, r.summary.Before[0])
		if err != nil {
			return nil, fmt.Errorf("audit the crash: %w", err)
		}
		checks = append(checks, found...)
		if cuts := r.summary.Cuts; cuts != nil {
			checks = append(checks, result.Check{
				Target: target.Label(), Name: "cuts after which acknowledged work was missing, old or damaged",
				Passed: cuts.Lossy == 0, Expected: "0", Found: fmt.Sprint(cuts.Lossy),
			})
		}
	}
	return checks, nil
}

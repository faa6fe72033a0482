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
	if audit.Checks, err = v.checks(ctx); err != nil {
		return audit, err
	}
	audit.Passed = result.Passed(audit.Checks)
	if r := v.Record; len(v.Dirs) == 1 && (r.Audit == nil || r.Audit.NotAudited != "") {
		r.Audit = &audit
		err = result.SaveSummary(r.Dir, r.Summary)
	}
	return audit, err
}

func (v Verification) checks(ctx context.Context) (all []result.Check, err error) {
	for _, target := range v.Targets {
		checks, err := v.one(ctx, target)
		all = append(all, checks...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// one audits a database, and compares with it what the run's driver machines noted as acknowledged.
func (v Verification) one(ctx context.Context, target store.Database) (checks []result.Check, err error) {
	how := v.How
	if v.Record != nil {
		if how.Run, err = v.account(target); err != nil {
			return nil, err
		}
	}
	w, err := v.Workload(ctx, target)
	if err != nil {
		return nil, err
	}
	checks, err = w.Audit(ctx, target, how)
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
		return nil, workload.Refuse("record: run %s did not get to its end, so nobody knows what it did; "+
			"leave out --record", r.RunID)
	}
	return &workload.Account{
		Counts: r.ByTarget[i].Counts, Before: r.Before[i], After: r.After[i], Target: i, Dirs: v.Dirs,
	}, nil
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
		return nil, workload.Refuse("record: %s has no journal, and others of its run have: "+
			"give every driver machine --journal", without[0])
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

func (r *Run) audit(ctx context.Context, tell progress.Tell) ([]result.Check, error) {
	if r.unmarked != nil {
		return nil, fmt.Errorf("audit what the run added: %w", r.unmarked)
	}
	checks, err := Verification{
		Targets: r.options.Targets,
		Workload: func(context.Context, store.Database) (workload.Workload, error) {
			return r.options.Plan.Workload(), nil
		},
		How:    workload.Audit{Tell: tell},
		Record: &result.Record{Summary: r.summary},
		Dirs:   []string{r.options.Dir},
	}.checks(ctx)
	if err != nil {
		return nil, err
	}
	if cuts := r.summary.Cuts; cuts != nil {
		checks = append(checks, result.Check{
			Target: r.summary.Targets[0], Name: "cuts after which acknowledged work was missing, old or damaged",
			Passed: cuts.Lossy == 0, Expected: "0", Found: fmt.Sprint(cuts.Lossy),
		})
	}
	return checks, nil
}

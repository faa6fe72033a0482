package runs

import (
	"context"
	"errors"
	"fmt"

	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/workload"
)

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

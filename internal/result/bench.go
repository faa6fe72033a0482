package result

import (
	"cmp"
	"time"

	"ds2/internal/measure"
)

// Bench is the summary.json of a bench: a directory that holds the records of several runs, run-1
// and on, and what they come to together.
type Bench struct {
	Head
	Spec `json:"spec"` // that the runs have in common; its Runs and Idle go by b.Spec
	// that the bench is a configuration of
	Experiment string `json:"experiment_id,omitempty"`
	Status     Status `json:"status"`
	Error      string `json:"error,omitempty"`
	// its runs failed, and the experiment goes on without it
	LeftOut bool      `json:"left_out,omitempty"`
	Start   time.Time `json:"start"`
	End     time.Time `json:"end,omitzero"`

	// of the experiment: it ends where all intervals reach at most so far
	Until float64 `json:"until_pct,omitempty"`
	// Looks are the times before the last blocks at which the experiment's result could be seen:
	// when it was done or interrupted.
	Looks []measure.Look `json:"looks,omitempty"`

	Runs []BenchRun `json:"runs"` // in the order of time, those that do not count included

	// Median is the directory of the run that is shown for the configuration: of those that count
	// the one with the median result, the lower of the two in the middle where their number is
	// even. The result is the median of all that count, and active power that run's, as in the
	// published reports; the result of several has no interval within a run.
	Median string `json:"median,omitempty"`
	Headline
	Active *float64 `json:"active_w,omitempty"`
	// Limits hold if they hold in all runs that count; none holds in a run that failed.
	Limits Verdicts `json:"limits,omitempty"`

	// Idle is the median of the runs' idle power.
	Idle *float64 `json:"idle_w,omitempty"`

	// Of all runs that count: the mean, half the width of its 95 % confidence interval by Student's
	// t (at least 2 runs), and the highest less the lowest in percent of the mean.
	RunsMean   *float64 `json:"runs_mean,omitempty"`
	RunsCI95   *float64 `json:"runs_mean_ci95,omitempty"`
	RunsSpread *float64 `json:"runs_spread_pct,omitempty"`

	Findings []Finding `json:"findings,omitempty"` // those of its runs, folded, and its own
}

// BenchRun is one run of a bench.
type BenchRun struct {
	Dir   string `json:"dir"` // within the bench's directory
	RunID string `json:"run_id,omitempty"`
	Sum   string `json:"sum,omitempty"`   // of what it measured, for its record to be known by
	Block int    `json:"block,omitempty"` // of the experiment, counted from 1
	// among all runs of the experiment, in the order of time
	Number int `json:"number,omitempty"`
	// Practice says that the run was made so that the first that counts is not the first of all: it
	// counts for nothing.
	Practice bool `json:"practice,omitempty"`
	// Unaudited says that the run came to its end and its audit was cut off, which is made when the
	// bench goes on.
	Unaudited bool `json:"unaudited,omitempty"`

	Status Status `json:"status"`
	Counts bool   `json:"counts"`
	// Findings are those of the run's record, and what else it failed by.
	Findings []Finding `json:"findings,omitempty"`
	// Slope is the change of the line of the window's rounds over the window, however small.
	Slope *float64 `json:"slope_pct,omitempty"`

	Took float64 `json:"took_s,omitempty"` // from the restore to the audit

	Headline
	P95        *float64 `json:"order_p95_ms,omitempty"`
	P95AtLeast bool     `json:"order_p95_at_least,omitempty"` // P95 is a lower bound
	Idle       *float64 `json:"idle_w,omitempty"`
	Active     *float64 `json:"active_w,omitempty"`
	Bottleneck string   `json:"bottleneck,omitempty"`

	// Environment is what the run's record has; nil: that is not there.
	Environment *Environment `json:"-"`

	Costs      *Costs      `json:"cost_per_order,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`

	// over the first window; with a failed one the run counts too
	Limits Verdicts `json:"limits,omitempty"`
}

// Unit is that of the bench's results.
func (b Bench) Unit() string { return cmp.Or(b.known().Unit, b.Words.Unit) }

// Unsteady says that the run's window was not seen to be steady. Such a run counts, unless the
// setup drops it.
func (r BenchRun) Unsteady() bool {
	return FindingOf(r.Findings, Unsteady, Drifts, NotJudged) != nil
}

// Fail takes down by what the run failed.
func (r *BenchRun) Fail(err error) {
	r.Findings = append(r.Findings, NewFinding(RunFailed, err.Error()))
}

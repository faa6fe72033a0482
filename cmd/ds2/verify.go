package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"ds2/internal/monitor"
	"ds2/internal/progress"
	"ds2/internal/report"
	"ds2/internal/result"
	"ds2/internal/runs"
	"ds2/internal/store"
	"ds2/internal/upkeep"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/audit"
)

func newVerifyCommand() *cobra.Command {
	var f verifyFlags
	cmd := newCommand("verify", interruptible("the check stops", f.run))
	flags := cmd.Flags()
	f.targetFlags.add(flags)
	addDrives(flags, &f.observe)
	declare(flags, "verify", fields{
		"size":       &f.size,
		"record":     &f.records,
		"deep":       &f.deep,
		"temp-limit": byteSize(&f.tempLimit),
		"output":     &f.format,
	})
	declare(flags, "shown", fields{"quiet": &f.quiet})
	return cmd
}

// verifyFlags say what is audited, against which records, and how deep.
type verifyFlags struct {
	targetFlags
	size, format string
	records      []string
	observe      monitor.Options // of a deep check
	tempLimit    int64
	deep, quiet  bool
}

const verifyInterrupted = "the verification was interrupted"

func (f *verifyFlags) run(i *interrupts, cmd *cobra.Command, _ []string) error {
	ctx := i.Soft
	unnamed := ds2.Workload{Engines: ds2Engines}
	if f.size != "" {
		size, err := parseSize(f.size)
		if err != nil {
			return err
		}
		unnamed.Size = &size
	}
	record, err := recordsOf(f.records)
	if err != nil {
		return flagError("record", err)
	}
	stores, release, err := f.openLocked(i, cmd)
	if err != nil {
		return err
	}
	defer release()

	var found verification
	show := showProgress(f.quiet, cmd.ErrOrStderr())
	// Pages and indexes first: an audit of damaged ones would fail by errors that say less.
	if f.deep {
		observer, err := f.observer(ctx, stores, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		tell, stop := show("verify", progress.Work)
		found.DeepChecks, err = upkeep.DeepCheck(ctx, stores, observer, tell)
		stop()
		if err != nil {
			return interrupted(ctx, err, verifyInterrupted)
		}
	}
	tell, stop := show("verify", progress.Bytes)
	how := workload.Audit{
		// Every row, where the audit after a run looks at those that the run added.
		Whole: true, TempLimit: f.tempLimit, Tell: tell,
		Warn: func(text string) {
			warn(cmd.ErrOrStderr(), "%s", text)
		},
		Omit: func(what string) {
			if !slices.Contains(found.Omitted, what) {
				found.Omitted = append(found.Omitted, what)
			}
		},
	}
	found.Audit, err = runs.Verification{
		Targets: stores, How: how, Record: record, Dirs: f.records, DeepChecks: found.DeepChecks,
		Workload: func(ctx context.Context, s store.Database) (workload.Workload, error) {
			return workloadOf(ctx, s, unnamed)
		},
	}.Audit(ctx)
	stop()
	refused, unfit := errors.AsType[*workload.Refusal](err)
	switch {
	case unfit:
		return usageError("--%w", refused)
	case err != nil && found.damaged() && ctx.Err() == nil:
		// An audit that stumbles over a damaged page is one more sign of it, and the report says
		// both.
		found.Broken = err.Error() // no wonder
	case err != nil:
		return interrupted(ctx, err, verifyInterrupted)
	}
	if err := found.print(cmd.OutOrStdout(), f.format); err != nil {
		return err
	}
	if f.format == "text" {
		if err := printPlacement(ctx, cmd.OutOrStdout(), stores); err != nil {
			return interrupted(ctx, err, verifyInterrupted)
		}
	}
	switch {
	case found.damaged():
		return verdictError("the database is damaged")
	case !found.Passed:
		return verdictError("the audit failed")
	}
	return nil
}

// observer finds the drives that a deep check reads. A check whose drives cannot be observed is
// made nevertheless, but for what was asked for by name.
func (f *verifyFlags) observer(
	ctx context.Context,
	targets []store.Database,
	stderr io.Writer,
) (*monitor.Observer, error) {
	observer, err := monitor.Observe(ctx, targets, 0, f.observe)
	if option, wrong := errors.AsType[*monitor.OptionError](err); wrong {
		return nil, optionError(option)
	}
	if err != nil {
		warn(stderr, "the drives are not observed: %v", err)
		return &monitor.Observer{}, nil
	}
	return observer, nil
}

// recordsOf reads what the driver machines of one run recorded, however it ended; nil where none is
// named.
func recordsOf(dirs []string) (*result.Record, error) {
	var records []*result.Record
	for _, dir := range dirs {
		record, err := result.Read(dir)
		if err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	if len(records) < 2 {
		return cmp.Or(records...), nil
	}
	return result.Merge(records)
}

// verification is what ds2 verify found, as its JSON has it.
type verification struct {
	result.Audit
	Broken     string            `json:"broken,omitempty"` // why the audit could not be made
	DeepChecks []store.DeepCheck `json:"deep_checks,omitempty"`
	Omitted    []string          `json:"omitted,omitempty"` // what was not looked at
}

// damaged says that the server itself found a broken page or index.
func (v verification) damaged() bool {
	return slices.ContainsFunc(v.DeepChecks, store.DeepCheck.Damaged)
}

// print writes the result as JSON, or as text with a line for each check, the verdict last.
func (v verification) print(w io.Writer, format string) error {
	if format == "json" {
		return printJSON(w, v)
	}
	if len(v.DeepChecks) > 0 {
		if err := report.DeepCheckText(w, v.DeepChecks); err != nil {
			return err
		}
	}
	return templates.ExecuteTemplate(w, "verify.tmpl", v)
}

// Failed is how many checks failed.
func (v verification) Failed() (n int) {
	for _, c := range v.Checks {
		if !c.Passed {
			n++
		}
	}
	return n
}

// printPlacement prints where the tables and indexes of each database lie and how large they are,
// as far as that is known.
func printPlacement(ctx context.Context, w io.Writer, stores []store.Database) error {
	for _, s := range stores {
		engine, ok := s.(audit.Placer)
		if !ok {
			continue
		}
		placed, err := engine.Placement(ctx)
		if err != nil {
			return err
		}
		if len(placed) == 0 {
			continue
		}
		if err := templates.ExecuteTemplate(w, "placement.tmpl", struct {
			Label  string
			Placed []store.Placed
		}{s.Label(), placed}); err != nil {
			return err
		}
	}
	return nil
}

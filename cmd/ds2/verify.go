package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ds2/internal/audit"
	"ds2/internal/result"
	"ds2/internal/store"
)

func newVerifyCommand() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Audit a database: rows, keys, sums and stock, and what a run says it did",
		Long: `Asks a database whether it holds what it should: the rows of its dataset, every foreign key, order lines and
purchase history that agree, sales that are the sum of the order lines product by product, no negative stock, and
orders whose net, tax and total are right. Given the record of a run besides, it counts what the run added.

Nothing is changed. Nobody may be at work on the database meanwhile. Exit code 3 says that a check failed.`,
		Example: `  ds2 verify --target postgres://ds2:ds2@localhost/ds2
  ds2 verify --target postgres://ds2:ds2@localhost/ds2 --record ds2-results/20261121T041500Z-k7c2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.targetFlags.add(flags)
	flags.StringVar(&f.size, "size", "", "size of the dataset, for a database that the kit did not load")
	flags.StringVar(&f.record, "record", "", "folder of the record of a run against this database")
	flags.StringVarP(&f.format, "output", "o", "text", "result as text or json")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "show nothing while the audit goes on")
	return cmd
}

type verifyFlags struct {
	targetFlags
	size, record, format string
	quiet                bool
}

func (f *verifyFlags) run(cmd *cobra.Command) error {
	if f.format != "text" && f.format != "json" {
		return usageError("--output: %q is neither text nor json", f.format)
	}
	var options audit.Options
	if f.size != "" {
		size, err := parseSize(f.size)
		if err != nil {
			return err
		}
		options.Size = &size
	}
	var record *result.Record
	if f.record != "" {
		var err error
		if record, err = result.Read(f.record); err != nil {
			return flagError("record", err)
		}
	}
	stores, err := f.open()
	if err != nil {
		return err
	}
	defer closeStores(stores)
	ctx, release := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer release()

	if !f.quiet {
		begin := time.Now()
		options.Progress = func(c result.Check) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%6.1f s  %s\n", time.Since(begin).Seconds(), checkLine(c))
		}
	}
	var checks []result.Check
	for _, s := range stores {
		if record != nil {
			if options.Run, err = runOf(record, s); err != nil {
				return err
			}
		}
		found, err := audit.Check(ctx, s, options)
		if ctx.Err() != nil {
			return &exitError{exitInterrupted, errors.New("the audit was interrupted")}
		}
		if err != nil {
			return err
		}
		checks = append(checks, found...)
	}
	passed := audit.Passed(checks)
	if err := printAudit(cmd.OutOrStdout(), f.format, result.Audit{Passed: passed, Checks: checks}); err != nil {
		return err
	}
	if !passed {
		return verdictError("the audit failed")
	}
	return nil
}

// runOf is what a record says of a target.
func runOf(r *result.Record, s store.Store) (*audit.Run, error) {
	i := slices.Index(r.Targets, s.Label())
	if i < 0 {
		return nil, usageError("--record: run %s was against %s, not %s", r.RunID, r.Targets, s.Label())
	}
	if i >= len(r.ByTarget) || i >= len(r.Before) || i >= len(r.After) {
		return nil, usageError("--record: run %s did not get to its end, so nobody knows what it did; leave out --record", r.RunID)
	}
	return &audit.Run{Counts: r.ByTarget[i].Counts, Before: r.Before[i], After: r.After[i]}, nil
}

// printAudit prints all checks and the verdict.
func printAudit(w io.Writer, format string, a result.Audit) error {
	if format == "json" {
		return printJSON(w, a)
	}
	failed := 0
	for _, c := range a.Checks {
		if !c.Passed {
			failed++
		}
		fmt.Fprintln(w, checkLine(c))
	}
	verdict := fmt.Sprintf("audit passed: %d checks", len(a.Checks))
	if failed > 0 {
		verdict = fmt.Sprintf("audit FAILED: %d of %d checks", failed, len(a.Checks))
	}
	_, err := fmt.Fprintln(w, verdict)
	return err
}

// checkLine is a check in one line.
func checkLine(c result.Check) string {
	verdict := "ok    "
	if !c.Passed {
		verdict = "FAILED"
	}
	return fmt.Sprintf("%s  %s: expected %s, found %s", verdict, c.Name, c.Expected, c.Found)
}

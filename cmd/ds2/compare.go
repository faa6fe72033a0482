package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ds2/internal/atomicfile"
	"ds2/internal/limit"
	"ds2/internal/report"
)

func newCompareCommand() *cobra.Command {
	var f formatFlags
	var out, cannotTell string
	var failIf []string
	var windows []string
	var anyCalls bool
	cmd := &cobra.Command{
		Use:  "compare A B…",
		Args: records,
		RunE: func(cmd *cobra.Command, args []string) error {
			devices, err := readDevices(args)
			if err != nil {
				return err
			}
			if devices != nil {
				return devicesShown(devices).deliver(cmd.OutOrStdout(), f, "", cmp.Or(out, "-"))
			}
			var gates []limit.Gate
			for _, text := range failIf {
				gate, err := limit.ParseGate(text, comparedFigures(), limitOperations()...)
				if err != nil {
					return flagError("fail-if", err)
				}
				gates = append(gates, gate)
			}
			if cmd.Flags().Changed("cannot-tell") && len(gates) == 0 {
				return usageError("--cannot-tell needs --fail-if")
			}
			read, err := reader(windows...)
			if err != nil {
				return err
			}
			all, warnings, err := report.ReadConfigurations(read, args)
			if err != nil {
				return windowError(err)
			}
			if err := report.OneCallPath(all); err != nil && !anyCalls {
				return usageError("%v: run them alike, or compare them all the same with --any-calls", err)
			}
			if len(gates) > 0 && len(all) < 2 {
				return usageError("--fail-if: name two directories or more, " +
					"the first of which is what the others are compared with")
			}
			c := report.Compare(all)
			c.Warnings = append(c.Warnings, warnings...)
			if err := c.Judge(gates); err != nil {
				return err
			}
			one := shown{c.Page(), c, func(w io.Writer) error { return report.CompareCSV(w, c) }}
			write := func(w io.Writer) error { return one.write(w, f) }
			if out == "" {
				err = write(cmd.OutOrStdout())
			} else {
				err = atomicfile.Write(out, write)
			}
			if err != nil {
				return err
			}
			failed, open := c.Failed()
			switch {
			case len(failed) > 0:
				return verdictError("gates failed: %s", strings.Join(failed, "; "))
			case len(open) > 0 && cannotTell == "fail":
				return &exitError{exitUnknown, fmt.Errorf("gates cannot tell: %s", strings.Join(open, "; "))}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	f.add(flags, "text", "markdown", "html", "json", "csv")
	flags.StringArrayVar(&failIf, "fail-if", nil, flagsTxt)
	flags.StringArrayVar(&windows, "window", nil, flagsTxt)
	flags.Var(oneOf(&cannotTell, "fail", "pass"), "cannot-tell", flagsTxt)
	flags.BoolVar(&anyCalls, "any-calls", false, flagsTxt)
	flags.StringVar(&out, "out", "", flagsTxt)
	return cmd
}

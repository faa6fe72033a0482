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
		Use:   "compare A B…",
		Short: "Compare the results of benches or runs",
		Long: `Compares benches, or single runs, with the first of them: the storage report's table, and the
differences in percent with their intervals. A directory can get a name: ssd=ds2-results/…

Configurations of one ds2 experiment are compared block by block; name its directory, or those of
the benches in it. Others are compared by Welch's t-test on the logarithms of all runs that count.
Records of ds2 device are compared with each other.

With --fail-if the command is a gate: exit code 3 if the whole 95 % interval of a change is beyond
the bound, and 4 if it cannot tell, because the interval includes the bound, there are fewer than
two runs of each, or the runs still warm up. Then it prints which loss these runs could have shown,
and how many more would decide. Errors and dropped orders are compared as counts.

A gate can be on any figure that the comparison prints, such as 'active power > 5%', or that ds2
drive --limit takes.`,
		Example: `  ds2 compare disks=ds2-results/20261121T041500Z-k3f9tq ssd=ds2-results/20261121T071500Z-p4m2aa
  ds2 compare ds2-results/arrays
  ds2 compare --output html --out compare.html disks=ds2-results/disks ssd=ds2-results/ssd
  ds2 compare --fail-if 'opm < -2.5%' --fail-if 'order p99 > +10%' --output markdown \
      main=ds2-results/main ds2-results/change`,
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
	flags.StringArrayVar(&failIf, "fail-if", nil, "fail on this `change`, such as 'opm "+
		"< -2.5%' or 'order p99 > +10%'; may be repeated")
	flags.StringArrayVar(&windows, "window", nil, "`span` of the figures in place of the record's own, such as "+
		"1000s-1200s or auto; may be repeated")
	flags.Var(oneOf(&cannotTell, "fail", "pass"), "cannot-tell", "if the runs cannot tell: fail with exit code 4, "+
		"or pass")
	flags.BoolVar(&anyCalls, "any-calls", false, "compare runs that differ in --sqlserver-calls")
	flags.StringVar(&out, "out", "", "`file` to write (default: standard output)")
	return cmd
}

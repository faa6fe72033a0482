package main

import (
	"slices"

	"github.com/spf13/cobra"

	"ds2/internal/compare"
	"ds2/internal/history"
	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/report"
	"ds2/internal/result"
)

func newCompareCommand() *cobra.Command {
	var f formatFlags
	var out, failIf, past string
	var windows []string
	var subject listed
	cmd := newCommand("compare", func(cmd *cobra.Command, args []string) error {
		dirs, done, err := unpacked(args)
		defer done()
		if err != nil {
			return err
		}
		// Records of drives alone have points of depth and latency, and neither runs nor intervals.
		devices, err := readDevices(cmd.Flags(), dirs)
		if err != nil {
			return err
		}
		if devices != nil {
			return devicesShown(devices).deliver(cmd.OutOrStdout(), f, out)
		}
		gated := cmd.Flags().Changed("fail-if")
		var gate limit.Gate
		if gated {
			if gate, err = limit.ParseGate(failIf); err != nil {
				return flagError("fail-if", err)
			}
		}
		// Windows given here take the place of each record's own: its samples are concluded again.
		over, err := measure.ParseWindows(windows)
		if err != nil {
			return flagError("window", err)
		}
		all, without, err := compare.ReadConfigurations(reader(over...), dirs)
		if err != nil {
			return windowError(err)
		}
		if past != "" && len(all) != 1 {
			return usageError("--history: name one bench or run, which is compared with it")
		}
		if gated && len(all) < 2 && past == "" {
			return usageError("--fail-if: name two directories or more, the first of which is what the others are compared with")
		}
		if err := compare.CheckSubject(all, subject); err != nil {
			return flagError("subject", err)
		}
		c := compare.WithFirst(all, subject...)
		if past != "" {
			days, done, err := readHistory([]string{past})
			defer done()
			if err != nil {
				return flagError("history", err)
			}
			// Runs of one day are more alike than days are, so the variation between days decides.
			c = history.Against(days, all[0], subject...)
		}
		c.Findings = append(c.Findings, without...)
		if gated {
			if err := c.Judge(gate); err != nil {
				return flagError("fail-if", err)
			}
		}
		one := shown{report.Comparison(c), c, comparisonCSV(c)}
		if err := one.deliver(cmd.OutOrStdout(), f, out); err != nil {
			return err
		}
		// A gate asks one thing: other findings are in the report and do not change the exit code.
		if gated {
			return verdictOf(slices.DeleteFunc(c.Findings, func(f result.Finding) bool {
				return f.Kind != result.GateFailed && f.Kind != result.GateOpen
			}))
		}
		return nil
	})
	cmd.ValidArgsFunction = directories
	cmd.Args = records
	flags := cmd.Flags()
	f.add(flags, "compare")
	declare(flags, "compare", fields{
		"fail-if": &failIf,
		"window":  &windows,
		"subject": &subject,
		"history": &past,
		"out":     &out,
	})
	return cmd
}

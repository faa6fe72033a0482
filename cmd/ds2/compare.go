package main

import (
	"io"
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
	cmd := &cobra.Command{
		Use:               "compare A B…",
		ValidArgsFunction: directories,
		Short:             "Compare the results of benches or runs",
		Long: `Compares benches, or single runs, with the first of them: the storage report's
table, and the differences in percent with their intervals. A directory, or its
zip archive, can get a name: ssd=ds2-results/…

Configurations of one ds2 experiment are compared block by block; name its
directory, or those of the benches in it. Others are compared by Welch's t-test
on the logarithms of all valid runs. Records of ds2 device are compared with
each other.

What the records were measured on, servers with all their settings and machines,
has to be alike, or the level is "Cannot tell". --subject names what is meant
to differ.

With --history one bench or run is compared with the days before it of its own
configuration, by what such days vary: equal code does not fail for a bad day.

With --fail-if the command is a gate on one figure of the comparison, such as
'opm < -5 %' or 'order p95 > 10 %', or on errors ('errors > 0'). The exit code
is 3 if the whole 95 % interval of the change is beyond the bound, and 4 if that
cannot be told: the interval includes the bound, there are fewer than two runs
of each, or the runs still warm up.`,
		Example: `  ds2 compare disks=ds2-results/20261121T041500Z-k3f9tq \
      ssd=ds2-results/20261121T071500Z-p4m2aa
  ds2 compare ds2-results/arrays
  ds2 compare --output html \
      --out compare.html disks=ds2-results/disks ssd=ds2-results/ssd
  ds2 compare --fail-if 'opm < -2.5 %' \
      main=ds2-results/main ds2-results/change
  ds2 compare --history ds2-results --fail-if 'opm < -5 %' \
      ds2-results/20261121T041500Z-k3f9tq`,
		Args: records,
		RunE: func(cmd *cobra.Command, args []string) error {
			dirs, done, err := unpacked(args)
			defer done()
			if err != nil {
				return err
			}
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
				return usageError("--fail-if: name two directories or more, " +
					"the first of which is what the others are compared with")
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
				c = history.Against(days, all[0], subject...)
			}
			c.Findings = append(c.Findings, without...)
			if gated {
				if err := c.Judge(gate); err != nil {
					return flagError("fail-if", err)
				}
			}
			one := shown{report.Comparison(c), c, func(w io.Writer) error {
				return report.CompareCSV(w, c)
			}}
			if err := one.deliver(cmd.OutOrStdout(), f, out); err != nil {
				return err
			}
			if gated {
				return verdictOf(slices.DeleteFunc(c.Findings, func(f result.Finding) bool {
					return f.Kind != result.GateFailed && f.Kind != result.GateOpen
				}))
			}
			return nil
		},
	}
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

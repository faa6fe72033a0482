package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ds2/internal/atomicfile"
	"ds2/internal/limit"
	"ds2/internal/report"
)

func newCompareCommand() *cobra.Command {
	var output, out string
	var failIf []string
	var strict bool
	cmd := &cobra.Command{
		Use:   "compare A B…",
		Short: "Compare the results of benches or runs",
		Long: `Compares the benches, or single runs, in the directories A, B and so on: the storage report's table, and by how many percent
each differs from the first, by the runs that stand for them. Whether a difference is significant is told by Welch's t-test
on the logarithms of all runs that count, at the 5 % level; it takes two runs of each.

With --fail-if the command is a gate for changes: it exits with code 3 where the 95 % confidence interval of a change lies
wholly beyond the bound, and says that it cannot tell where the interval holds the bound, or where there are fewer than
two runs of each; with --strict that is code 3 too.

A directory can be given a name: ssd=ds2-results/…`,
		Example: `  ds2 compare disks=ds2-results/20261121T041500Z-k3f9tq ssd=ds2-results/20261121T071500Z-p4m2aa
  ds2 compare --output html --out compare.html disks=ds2-results/disks ssd=ds2-results/ssd
  ds2 compare --fail-if 'opm < -2.5%' --fail-if 'order p99 > +10%' --output markdown main=ds2-results/main ds2-results/change`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			write := compareFormats[output]
			var gates []limit.Gate
			for _, text := range failIf {
				gate, err := limit.ParseGate(text)
				if err != nil {
					return flagError("fail-if", err)
				}
				gates = append(gates, gate)
			}
			switch {
			case len(gates) > 0 && len(args) < 2:
				return usageError("--fail-if: name two directories or more, the first of which is what the others are compared with")
			case strict && len(gates) == 0:
				return usageError("--strict: it takes a --fail-if")
			}
			var all []report.Configuration
			for _, arg := range args {
				c, err := report.ReadConfiguration(arg)
				if err != nil {
					return err
				}
				all = append(all, c)
			}
			c := report.Compare(all)
			if err := c.Judge(gates); err != nil {
				return err
			}
			var err error
			if out == "" {
				err = write(cmd.OutOrStdout(), c)
			} else {
				err = atomicfile.Write(out, func(w io.Writer) error { return write(w, c) })
			}
			if err != nil {
				return err
			}
			failed, open := c.Failed()
			if strict {
				failed = append(failed, open...)
			}
			if len(failed) > 0 {
				return verdictError("gates failed: %s", strings.Join(failed, "; "))
			}
			return nil
		},
	}
	cmd.Flags().VarP(oneOf(&output, "text", "markdown", "html", "json", "csv"), "output", "o", "format of the result")
	cmd.Flags().StringArrayVar(&failIf, "fail-if", nil, "`change` that must not be, such as 'opm < -2.5%' or 'order p99 > +10%'; may be repeated")
	cmd.Flags().BoolVar(&strict, "strict", false, "fail too where the runs cannot tell")
	cmd.Flags().StringVar(&out, "out", "", "`file` to write (default: standard output)")
	return cmd
}

var compareFormats = map[string]func(io.Writer, report.Comparison) error{
	"text":     report.CompareText,
	"markdown": report.CompareMarkdown,
	"html":     report.CompareHTML,
	"json":     printJSON[report.Comparison],
	"csv":      report.CompareCSV,
}

package main

import (
	"io"

	"github.com/spf13/cobra"

	"ds2/internal/atomicfile"
	"ds2/internal/report"
)

func newCompareCommand() *cobra.Command {
	var output, out string
	cmd := &cobra.Command{
		Use:   "compare A B…",
		Short: "Compare the results of benches or runs",
		Long: `Compares the benches, or single runs, in the folders A, B and so on: the storage report's table, and by how many percent
each differs from the first, by the runs that stand for them. Whether a difference is significant is told by Welch's t-test
on the logarithms of all runs that count, at the 5 % level; it takes two runs of each.

A folder can be given a name: ssd=ds2-results/…`,
		Example: `  ds2 compare disks=ds2-results/20261121T041500Z-k3f9tq ssd=ds2-results/20261121T071500Z-p4m2aa
  ds2 compare --output html --out compare.html disks=ds2-results/disks ssd=ds2-results/ssd`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := compareFormats[output]
			if !ok {
				return usageError("--output %s: write text, html, json or csv", output)
			}
			var all []report.Configuration
			for _, arg := range args {
				c, err := report.ReadConfiguration(arg)
				if err != nil {
					return err
				}
				all = append(all, c)
			}
			if out == "" {
				return write(cmd.OutOrStdout(), report.Compare(all))
			}
			return atomicfile.Write(out, func(w io.Writer) error { return write(w, report.Compare(all)) })
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "`format`: text, html, json or csv")
	cmd.Flags().StringVar(&out, "out", "", "`file` to write (default: standard output)")
	return cmd
}

var compareFormats = map[string]func(io.Writer, report.Comparison) error{
	"text": report.CompareText,
	"html": report.CompareHTML,
	"json": report.CompareJSON,
	"csv":  report.CompareCSV,
}

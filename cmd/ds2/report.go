package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"ds2/internal/measure"
	"ds2/internal/report"
	"ds2/internal/result"
)

// reportFile is the report's name in a record's folder.
const reportFile = "report.html"

func newReportCommand() *cobra.Command {
	var output, out string
	var windows []string
	cmd := &cobra.Command{
		Use:   "report DIR…",
		Short: "Turn records of runs into one page of HTML, or text, JSON or CSV",
		Long: `Reads the records in the folders DIR and writes one page of HTML that needs no network: the result on top,
OPM and response times over time, the audit, and all that is needed to repeat the runs.

JSON is the records' summaries as an array; CSV is their one-second samples.`,
		Example: `  ds2 report ds2-results/*
  ds2 report --output text --window 1000s-1200s ds2-results/*`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			specs := make([]measure.WindowSpec, len(windows))
			for i, text := range windows {
				var err error
				if specs[i], err = measure.ParseWindow(text); err != nil {
					return flagError("window", err)
				}
			}
			records := make([]*result.Record, len(dirs))
			for i, dir := range dirs {
				var err error
				if records[i], err = result.Read(dir); err != nil {
					return err
				}
				if err := records[i].Choose(specs); err != nil {
					return flagError("window", fmt.Errorf("%s: %w", dir, err))
				}
			}
			write, ok := reportFormats[output]
			if !ok {
				return usageError("--output %s: write html, text, json or csv", output)
			}
			if out == "" && output == "html" {
				out = filepath.Join(dirs[0], reportFile)
			}
			if out == "" || out == "-" {
				return write(cmd.OutOrStdout(), records)
			}
			if err := writeFile(out, func(w io.Writer) error { return write(w, records) }); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), out)
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&output, "output", "o", "html", "`format`: html, text, json or csv")
	flags.StringVar(&out, "out", "", "`file` to write, - for standard output (default: "+reportFile+" in the first DIR for html, standard output for the others)")
	flags.StringArrayVar(&windows, "window", nil, "`span` to take the figures from instead of the record's own, such as 1000s-1200s or auto; may be given again")
	return cmd
}

var reportFormats = map[string]func(io.Writer, []*result.Record) error{
	"html": report.HTML,
	"text": report.Text,
	"json": report.JSON,
	"csv":  report.CSV,
}

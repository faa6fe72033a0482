package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/internal/atomicfile"
	"ds2/internal/conclude"
	"ds2/internal/report"
	"ds2/internal/result"
)

// reportFile is the report's name in a record's directory.
const reportFile = "report.html"

// records refuses a command line without records, and names that are no directory.
func records(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("name the directory of a record, such as ds2-results/20261121T041500Z-k3f9tq")
	}
	seen := map[string]string{}
	for _, arg := range args {
		_, dir, named := strings.Cut(arg, "=")
		if !named {
			dir = arg
		}
		if _, err := os.Stat(dir); err != nil {
			return fmt.Errorf("there is no record %s: name a directory that a run, a bench or an experiment wrote", dir)
		}
		if before, twice := seen[filepath.Clean(dir)]; twice {
			return fmt.Errorf("%s and %s are one record: name another", before, arg)
		}
		seen[filepath.Clean(dir)] = arg
	}
	return nil
}

func newReportCommand() *cobra.Command {
	var output, out string
	var windows []string
	var merge, details bool
	cmd := &cobra.Command{
		Use:   "report DIR…",
		Short: "Turn records of runs into one page of HTML, or text, JSON, CSV or the form of ESRP",
		Long: `Writes one HTML page of records, which needs no network: the result, OPM and response times over
time, the audit, and all that repeating the runs needs.

JSON is the records' summaries as an array; CSV is their one-second samples. --merge adds up the
records of one run from several driver machines.

The format esrp is the summary of a mailbox storage test in the order of ESRP's form, for each
server and in total: of one record for each server, or of one run observed by an exporter on each.
Of a bench it takes the median run. Records of ds2 bench-backup add a table.`,
		Example: `  ds2 report ds2-results/*
  ds2 report --output text --window 1000s-1200s ds2-results/*
  ds2 report --output esrp ds2-results/server1 ds2-results/server2
  ds2 report --merge machine1/ds2-results/*-nightly machine2/ds2-results/*-nightly`,
		Args: records,
		RunE: func(cmd *cobra.Command, dirs []string) error {
			read, err := reader(windows...)
			if err != nil {
				return err
			}
			if output == esrp {
				return reportESRP(cmd.OutOrStdout(), dirs, windows, merge, out)
			}
			devices, err := readDevices(dirs)
			if err != nil {
				return err
			}
			if devices != nil {
				if out == "" && output == "html" {
					out = strings.TrimSuffix(dirs[0], ".json") + ".html"
				}
				return deliver(cmd.OutOrStdout(), "", output, out, func(w io.Writer) error {
					return writePage(w, report.Devices(devices), devices, output, details)
				})
			}
			write, err := reportOf(read, dirs, merge, output, details)
			if err != nil {
				return windowError(err)
			}
			return deliver(cmd.OutOrStdout(), dirs[0], output, out, write)
		},
	}
	flags := cmd.Flags()
	flags.VarP(oneOf(&output, "html", "text", "json", "csv", esrp), "output", "o", flagsTxt)
	flags.StringVar(&out, "out", "", flagsTxt)
	flags.BoolVar(&details, "details", false, flagsTxt)
	flags.BoolVar(&merge, "merge", false, flagsTxt)
	flags.StringArrayVar(&windows, "window", nil, flagsTxt)
	return cmd
}

// reportOf is what writes a report: of runs, several of which may be added up to one, or of one record of another kind.
func reportOf(read conclude.Reader, dirs []string, merge bool, output string, details bool) (func(io.Writer) error, error) {
	if merge {
		one, err := read.Merged(dirs)
		if errors.Is(err, result.ErrNone) {
			return nil, flagError("merge", err)
		}
		return runsWritten([]*result.Record{one}, output, details), err
	}
	var runs []*result.Record
	for _, dir := range dirs {
		opened, err := read.Open(dir)
		if err != nil {
			return nil, err
		}
		run, ok := opened.(*result.Record)
		switch {
		case !ok && len(dirs) > 1:
			return nil, usageError("%s is not the record of a run: report it by itself, or see ds2 compare", dir)
		case !ok:
			return otherWritten(read, dir, opened, output, details)
		}
		runs = append(runs, run)
	}
	return runsWritten(runs, output, details), nil
}

// otherWritten writes a record that is not of a run.
func otherWritten(read conclude.Reader, dir string, opened any, output string, details bool) (func(io.Writer) error, error) {
	var page report.Page
	switch record := opened.(type) {
	case result.Bench:
		c := report.Configuration{Name: report.DirName(dir), Dir: dir, Bench: record, Read: read}
		return func(w io.Writer) error { return writeBench(w, c, output, details) }, nil
	case result.Experiment:
		e, err := report.NewExperiment(read, dir, record)
		return func(w io.Writer) error { return writeExperiment(w, e, output, details) }, err
	case result.Search:
		var err error
		if page, err = searchPage(dir, record); err != nil {
			return nil, err
		}
	case result.Backup:
		page = report.Backup(record)
	}
	if len(read.Windows) > 0 {
		return nil, usageError("--window: the figures of a search or of a backup test, as in %s, are of no window", dir)
	}
	return func(w io.Writer) error { return writePage(w, page, opened, output, details) }, nil
}

// writePage writes what there is to read of a record or, as JSON, the record.
func writePage[T any](w io.Writer, p report.Page, record T, output string, details bool) error {
	switch output {
	case "html":
		return p.HTML(w)
	case "text":
		return p.Text(w, details)
	case "markdown":
		return p.Markdown(w, details)
	case "json":
		return printJSON(w, record)
	}
	return usageError("--output %s: this record is written as html, text or json", output)
}

// shownFlags are how a result is shown, and what is told before.
type shownFlags struct {
	format         string
	details, quiet bool
}

// add declares the flags; the first format is the default.
func (f *shownFlags) add(flags *pflag.FlagSet, formats ...string) {
	flags.VarP(oneOf(&f.format, formats...), "output", "o", flagsTxt)
	flags.BoolVar(&f.details, "details", false, flagsTxt)
	flags.BoolVarP(&f.quiet, "quiet", "q", false, flagsTxt)
}

// esrp is the format of ESRP's form.
const esrp = "esrp"

// reportESRP reports runs, and benches by their median runs, in ESRP's form.
func reportESRP(stdout io.Writer, dirs, windows []string, merge bool, out string) error {
	if len(windows) > 0 || merge {
		return usageError("--output esrp: it takes the first window of records as they are, without --window and --merge")
	}
	var records []*result.Record
	var backups []result.Backup
	for _, dir := range dirs {
		opened, err := result.Open(dir)
		if err != nil {
			return err
		}
		switch record := opened.(type) {
		case *result.Record:
			records = append(records, record)
		case result.Backup:
			backups = append(backups, record)
		case result.Bench:
			if record.Median == "" {
				return fmt.Errorf("report %s: no run of the bench counts", dir)
			}
			median, err := result.Read(filepath.Join(dir, record.Median))
			if err != nil {
				return err
			}
			records = append(records, median)
		default:
			return usageError("--output esrp: %s holds neither a run nor a bench nor a backup test", dir)
		}
	}
	if len(records) == 0 {
		return usageError("--output esrp: name the record of a run too; a backup test alone is no summary")
	}
	page, err := report.ESRP(records, backups)
	if err != nil {
		return err
	}
	return deliver(stdout, dirs[0], esrp, out, func(w io.Writer) error { return page.Text(w, true) })
}

// runsWritten writes the records of runs; as JSON their summaries in an array.
func runsWritten(records []*result.Record, output string, details bool) func(io.Writer) error {
	return func(w io.Writer) error {
		if output == "csv" {
			return report.CSV(w, records)
		}
		var summaries []result.Summary
		for _, r := range records {
			summaries = append(summaries, r.Summary)
		}
		return writePage(w, report.Runs(records...), summaries, output, details)
	}
}

// writeBench writes the report of a bench.
func writeBench(w io.Writer, c report.Configuration, output string, details bool) error {
	if output == "csv" {
		return report.CompareCSV(w, report.Compare([]report.Configuration{c}))
	}
	return writePage(w, c.Page(), c.Bench, output, details)
}

// deliver writes a report to the file out, and tells stdout its name. - is stdout; no name is reportFile in dir for
// HTML, and stdout for the others.
func deliver(stdout io.Writer, dir, output, out string, write func(io.Writer) error) error {
	if out == "" && output == "html" {
		out = filepath.Join(dir, reportFile)
	}
	if out == "" || out == "-" {
		return write(stdout)
	}
	if err := atomicfile.Write(out, write); err != nil {
		return err
	}
	_, err := fmt.Fprintln(stdout, out)
	return err
}

// printJSON writes v as every command writes its result in JSON.
func printJSON[T any](w io.Writer, v T) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

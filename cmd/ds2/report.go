package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"ds2/internal/atomicfile"
	"ds2/internal/conclude"
	"ds2/internal/report"
	"ds2/internal/result"
)

// reportFile is the report's name in a record's directory.
const reportFile = "report.html"

func newReportCommand() *cobra.Command {
	var output, out string
	var windows []string
	var merge bool
	cmd := &cobra.Command{
		Use:   "report DIR…",
		Short: "Turn records of runs into one page of HTML, or text, JSON, CSV or the form of ESRP",
		Long: `Reads the records in the directories DIR and writes one page of HTML that needs no network: the result on top,
OPM and response times over time, the audit, and all that is needed to repeat the runs.

JSON is the records' summaries as an array; CSV is their one-second samples.

With --merge the records are those of one run that several driver machines made, and are added up to one.

The format esrp is the summary of a storage test of mailboxes in the order of ESRP's form, per server and in total. It takes
several records, one of each server, or one run observed by several exporters, one on each server. Of a bench it takes the
median run. Records of ds2 bench-backup among them add a table.`,
		Example: `  ds2 report ds2-results/*
  ds2 report --output text --window 1000s-1200s ds2-results/*
  ds2 report --output esrp ds2-results/server1 ds2-results/server2
  ds2 report --merge machine1/ds2-results/*-nightly machine2/ds2-results/*-nightly`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			read, err := reader(windows...)
			if err != nil {
				return err
			}
			if output == esrp {
				return reportESRP(cmd.OutOrStdout(), dirs, windows, merge, out)
			}
			search, err := result.ReadSearch(dirs[0])
			if err != nil {
				return err
			}
			if search != nil {
				if len(dirs) > 1 || len(windows) > 0 || merge {
					return usageError("%s is the record of a search by ds2 tune: report it by itself, without --window and --merge", dirs[0])
				}
				return reportSearch(cmd.OutOrStdout(), dirs[0], *search, output, out)
			}
			if b, err := result.ReadBackup(dirs[0]); !errors.Is(err, result.ErrNoBackup) {
				if err == nil && (len(dirs) > 1 || len(windows) > 0 || merge) {
					err = usageError("%s is the record of a backup test: report it by itself, without --window and --merge", dirs[0])
				}
				if err != nil {
					return err
				}
				return reportBackup(cmd.OutOrStdout(), dirs[0], b, output, out)
			}
			if e, err := report.ReadExperiment(read, dirs[0]); !errors.Is(err, result.ErrNoExperiment) {
				if err == nil && (len(dirs) > 1 || merge) {
					err = usageError("%s is the record of an experiment: report it by itself, without --merge, or see ds2 compare", dirs[0])
				}
				if err != nil {
					return windowError(err)
				}
				return deliver(cmd.OutOrStdout(), dirs[0], output, out, func(w io.Writer) error { return writeExperiment(w, e, output) })
			}
			if _, err := result.ReadBench(dirs[0]); !errors.Is(err, result.ErrNoBench) {
				if len(dirs) > 1 || merge {
					return usageError("%s is the record of a bench: report it by itself, without --merge, or see ds2 compare", dirs[0])
				}
				return reportBench(cmd.OutOrStdout(), read, dirs[0], output, out)
			}
			return reportRuns(cmd.OutOrStdout(), read, dirs, merge, output, out)
		},
	}
	flags := cmd.Flags()
	flags.VarP(oneOf(&output, "html", "text", "json", "csv", esrp), "output", "o", "format of the result")
	flags.StringVar(&out, "out", "", "`file` to write, - for standard output (default: "+reportFile+" in the first DIR for html, standard output for the others)")
	flags.BoolVar(&merge, "merge", false, "add up the records of one run from several driver machines")
	flags.StringArrayVar(&windows, "window", nil, "`span` to take the figures from instead of the record's own, such as 1000s-1200s or auto; may be given again")
	return cmd
}

// reportBackup reports the record of a backup test.
func reportBackup(stdout io.Writer, dir string, b result.Backup, output, out string) error {
	write, ok := map[string]func(io.Writer) error{
		"html": func(w io.Writer) error { return report.BackupHTML(w, b) },
		"text": func(w io.Writer) error { return report.BackupText(w, b) },
		"json": func(w io.Writer) error { return printJSON(w, b) },
	}[output]
	if !ok {
		return usageError("--output %s: the record of a backup test is written as html, text or json", output)
	}
	return deliver(stdout, dir, output, out, write)
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
		if read, err := result.ReadBackup(dir); !errors.Is(err, result.ErrNoBackup) {
			if err != nil {
				return err
			}
			backups = append(backups, read)
			continue
		}
		b, err := result.ReadBench(dir)
		switch {
		case err == nil && b.Median == "":
			return fmt.Errorf("report %s: no run of the bench counts", dir)
		case err == nil:
			dir = filepath.Join(dir, b.Median)
		case !errors.Is(err, result.ErrNoBench):
			return err
		}
		r, err := result.Read(dir)
		if err != nil {
			return err
		}
		records = append(records, r)
	}
	if len(records) == 0 {
		return usageError("--output esrp: name the record of a run too; a backup test alone is no summary")
	}
	return deliver(stdout, dirs[0], esrp, out, func(w io.Writer) error { return report.ESRP(w, records, backups) })
}

var reportFormats = map[string]func(io.Writer, []*result.Record) error{
	"html": report.HTML,
	"text": report.Text,
	"json": summariesJSON,
	"csv":  report.CSV,
}

// summariesJSON writes the summaries as one array.
func summariesJSON(w io.Writer, records []*result.Record) error {
	summaries := make([]result.Summary, len(records))
	for i, r := range records {
		summaries[i] = r.Summary
	}
	return printJSON(w, summaries)
}

// reportRuns reports the records of runs.
func reportRuns(stdout io.Writer, read conclude.Reader, dirs []string, merge bool, output, out string) error {
	records, err := readRecords(read, dirs, merge)
	if err != nil {
		return windowError(err)
	}
	return deliver(stdout, dirs[0], output, out, func(w io.Writer) error { return reportFormats[output](w, records) })
}

// readRecords reads records, and adds them up to one where they are those of one run.
func readRecords(read conclude.Reader, dirs []string, merge bool) ([]*result.Record, error) {
	if merge {
		one, err := read.Merged(dirs)
		return []*result.Record{one}, err
	}
	records := make([]*result.Record, len(dirs))
	for i, dir := range dirs {
		var err error
		if records[i], err = read.Run(dir); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// reportBench reports the record of a bench.
func reportBench(stdout io.Writer, read conclude.Reader, dir, output, out string) error {
	c, err := report.ReadConfiguration(read, dir)
	if err != nil {
		return windowError(err)
	}
	return deliver(stdout, dir, output, out, func(w io.Writer) error { return writeBench(w, c, output) })
}

// writeBench writes the report of a bench.
func writeBench(w io.Writer, c report.Configuration, output string) error {
	switch output {
	case "html":
		return report.BenchHTML(w, c)
	case "text":
		return report.BenchText(w, c)
	case "json":
		return printJSON(w, c.Bench)
	default:
		return compareFormats[output](w, report.Compare([]report.Configuration{c}))
	}
}

// reportSearch reports the record of a search.
func reportSearch(stdout io.Writer, dir string, search result.Search, output, out string) error {
	write, ok := map[string]func(io.Writer) error{
		"html": func(w io.Writer) error { return tunePage(w, dir, search) },
		"text": func(w io.Writer) error { return report.TuneText(w, search) },
		"json": func(w io.Writer) error { return printJSON(w, search) },
	}[output]
	if !ok {
		return usageError("--output %s: the record of a search is written as html, text or json", output)
	}
	return deliver(stdout, dir, output, out, write)
}

// deliver writes a report to the file out, and tells stdout its name. - is stdout; no name is reportFile in dir for HTML,
// and stdout for the others.
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

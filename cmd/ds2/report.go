package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/internal/atomicfile"
	"ds2/internal/compare"
	"ds2/internal/conclude"
	"ds2/internal/escape"
	"ds2/internal/measure"
	"ds2/internal/report"
	"ds2/internal/result"
)

// reportFile is the report's name in a record's directory.
const reportFile = result.ReportFile

// records refuses a command line without records, and names that are no directory.
func records(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New(
			"name the directory of a record, such as ds2-results/20261121T041500Z-k3f9tq",
		)
	}
	seen := map[string]string{}
	for _, arg := range args {
		_, dir := cutName(arg)
		if _, err := os.Stat(dir); err != nil {
			return fmt.Errorf("there is no record %s: name a directory that a run, a bench or an experiment wrote",
				escape.Text(dir))
		}
		if before, twice := seen[filepath.Clean(dir)]; twice {
			return fmt.Errorf("%s and %s are one record: name another", before, arg)
		}
		seen[filepath.Clean(dir)] = arg
	}
	return nil
}

// cutName parts NAME=PATH; a path alone has no name.
func cutName(argument string) (name, path string) {
	if name, path, named := strings.Cut(argument, "="); named {
		return name, path
	}
	return "", argument
}

// unpacker unpacks archives of records into temporary directories.
type unpacker struct{ dirs []string }

// unpackRecord gives the directory of a record: that of one that is no archive is its path.
func (u *unpacker) unpackRecord(path string) (string, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() ||
		filepath.Ext(path) != result.ArchiveExt {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "ds2-records-")
	if err != nil {
		return "", fmt.Errorf("unpack records: %w", err)
	}
	u.dirs = append(u.dirs, dir)
	return result.Unpack(path, dir)
}

func (u *unpacker) removeAll() {
	for _, dir := range u.dirs {
		os.RemoveAll(dir)
	}
}

// unpacked gives the arguments of a command, DIR or NAME=DIR, with those that are archives of
// records unpacked, until done.
func unpacked(arguments []string) (dirs []string, done func(), err error) {
	archives := new(unpacker)
	for _, argument := range arguments {
		name, path := cutName(argument)
		dir, err := archives.unpackRecord(path)
		if err != nil {
			return nil, archives.removeAll, err
		}
		if name != "" {
			dir = name + "=" + dir
		}
		dirs = append(dirs, dir)
	}
	return dirs, archives.removeAll, nil
}

func newReportCommand() *cobra.Command {
	var f formatFlags
	var out string
	var windows []string
	var merge, embed bool
	cmd := newCommand("report", func(cmd *cobra.Command, args []string) error {
		over, err := measure.ParseWindows(windows)
		if err != nil {
			return flagError("window", err)
		}
		dirs, done, err := unpacked(args)
		defer done()
		if err != nil {
			return err
		}
		if f.format == esrp || f.format == esrpCSV {
			return reportESRP(cmd.OutOrStdout(), dirs, windows, merge, f.format, out)
		}
		devices, err := readDevices(cmd.Flags(), dirs)
		if err != nil {
			return err
		}
		var one shown
		page := filepath.Join(args[0], reportFile)
		if dirs[0] != args[0] { // an archive
			page = strings.TrimSuffix(args[0], result.ArchiveExt) + ".html"
		}
		if devices != nil {
			_, path := cutName(dirs[0])
			one = devicesShown(devices)
			page = strings.TrimSuffix(path, ".json") + ".html"
		} else if one, err = reportOf(reader(over...), dirs, merge); err != nil {
			return windowError(err)
		}
		// A page goes beside its record, where a copy of the directory takes it along.
		if out == "" && f.format == "html" {
			out = page
			// Where the record of others has a link or a device by that name, it is replaced.
			if info, err := os.Lstat(out); err == nil && !info.Mode().IsRegular() {
				if err := os.Remove(out); err != nil {
					return err
				}
			}
		}
		if embed {
			if f.format != "html" || devices != nil {
				return usageError("--embed: only the HTML page of a record brings it along")
			}
			if err := embedRecords(&one.page, dirs); err != nil {
				return err
			}
		}
		return one.deliver(cmd.OutOrStdout(), f, out)
	})
	cmd.ValidArgsFunction = directories
	cmd.Args = records
	flags := cmd.Flags()
	f.add(flags, "report")
	declare(flags, "report", fields{
		"out":    &out,
		"merge":  &merge,
		"embed":  &embed,
		"window": &windows,
	})
	return cmd
}

// embedRecords has a page bring the records along that it is made of.
func embedRecords(page *report.Page, dirs []string) error {
	// All archives of a page share one bound, so that it can still be opened and mailed.
	left := report.MostEmbedded
	for _, dir := range dirs {
		var archive bytes.Buffer
		if err := result.Pack(&archive, dir); err != nil {
			return err
		}
		if left -= archive.Len(); left < 0 {
			return usageError("--embed: the archive of %s has %s, and a page takes %s in all: hand the record on by itself", dir, bytesText(int64(archive.Len())),
				bytesText(report.MostEmbedded))
		}
		page.Embed(compare.DirName(dir)+result.ArchiveExt, archive.Bytes())
	}
	return nil
}

// reportOf is a report of runs, several of which may be added up to one, or of one record of
// another kind.
func reportOf(read conclude.Reader, dirs []string, merge bool) (none shown, err error) {
	if merge {
		one, err := read.Merged(dirs)
		if errors.Is(err, result.ErrNone) {
			return none, flagError("merge", err)
		}
		if err != nil {
			return none, err
		}
		return runsShown(one), nil
	}
	var runs []*result.Record
	for _, dir := range dirs {
		opened, err := compare.Open(read, dir)
		if err != nil {
			return none, err
		}
		run, ok := opened.(*result.Record)
		switch {
		case !ok && len(dirs) > 1:
			return none, usageError(
				"%s is not the record of a run: report it by itself, or see ds2 compare",
				dir,
			)
		case !ok:
			return otherShown(read, dir, opened)
		}
		runs = append(runs, run)
	}
	return runsShown(runs...), nil
}

// otherShown is a report of a record that is not of a run.
func otherShown(read conclude.Reader, dir string, opened any) (none shown, err error) {
	switch record := opened.(type) {
	case result.Bench:
		c := compare.Configuration{Name: compare.DirName(dir), Dir: dir, Bench: record, Read: read}
		compared := compare.WithFirst([]compare.Configuration{c})
		return shown{report.Bench(c), record, comparisonCSV(compared)}, nil
	case result.Experiment:
		e, err := compare.NewExperiment(read, dir, record)
		if err != nil {
			return none, err
		}
		return experimentShown(e), nil
	}
	if len(read.Windows) > 0 {
		return none, usageError("--window: the figures of a search, as in %s, have no window",
			dir)
	}
	return searchShown(opened.(result.Search)), nil
}

// shown is a record as each format shows it.
type shown struct {
	page   report.Page
	record any                   // as JSON
	csv    func(io.Writer) error // nil: there is none
}

// runsShown are records of runs; as JSON their summaries in an array.
func runsShown(records ...*result.Record) shown {
	summaries := mapped(records, func(r *result.Record) result.Summary { return r.Summary })
	return shown{report.Runs(records...), summaries, func(w io.Writer) error {
		return report.CSV(w, records)
	}}
}

func experimentShown(e compare.Experiment) shown {
	return shown{report.Experiment(e), e, comparisonCSV(e.Comparison)}
}

// comparisonCSV has a comparison be written as CSV.
func comparisonCSV(c compare.Comparison) func(io.Writer) error {
	return func(w io.Writer) error { return report.CompareCSV(w, c) }
}

func devicesShown(devices []report.Device) shown {
	return shown{page: report.Devices(devices), record: devices}
}

func (s shown) write(w io.Writer, f formatFlags) error {
	switch {
	case f.format == "html":
		return s.page.HTML(w)
	case f.format == "text":
		return s.page.Text(w, f.details, columns(w))
	case f.format == "json":
		return printJSON(w, s.record)
	case f.format == "csv" && s.csv != nil:
		return s.csv(w)
	case f.format == "markdown":
		return s.page.Markdown(w)
	}
	return usageError("--output %s: this record is written as html, text or json", f.format)
}

// publish writes the page of a record into its directory, prints the result, and tells where the
// page is.
func (s shown) publish(cmd *cobra.Command, dir string, f formatFlags) error {
	page := filepath.Join(dir, reportFile)
	err := cmp.Or(atomicfile.Write(page, s.page.HTML), s.write(cmd.OutOrStdout(), f))
	if err == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", page)
	}
	return err
}

// deliver writes a report to the file out, and tells stdout its name. No name is stdout, and so is
// -.
func (s shown) deliver(stdout io.Writer, f formatFlags, out string) error {
	if out == "" || out == "-" {
		return s.write(stdout, f)
	}
	switch info, err := os.Stat(out); {
	case err == nil && info.IsDir():
		return usageError("--out: %s is a directory: name a file in it, such as %s", out,
			filepath.Join(out, reportFile))
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(out)); err != nil {
			return usageError("--out: there is no directory %s", filepath.Dir(out))
		}
	}
	path, err := atomicfile.Follow(out)
	if err == nil {
		err = atomicfile.Write(path, func(w io.Writer) error { return s.write(w, f) })
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, out)
	return err
}

// formatFlags are how a result is shown.
type formatFlags struct {
	format  string
	details bool
}

// add declares the flags of a command, whose section has its formats.
func (f *formatFlags) add(flags *pflag.FlagSet, section string) {
	declare(flags, section, fields{"output": &f.format})
	declare(flags, "shown", fields{"details": &f.details})
}

// shownFlags are how a result is shown, and what is told before.
type shownFlags struct {
	formatFlags
	quiet bool
}

func (f *shownFlags) add(flags *pflag.FlagSet, section string) {
	f.formatFlags.add(flags, section)
	declare(flags, "shown", fields{"quiet": &f.quiet})
}

// The formats of ESRP's form: as text, and each figure of it as a line.
const (
	esrp    = "esrp"
	esrpCSV = "esrp-csv"
)

// reportESRP reports runs, and benches by their median runs, in ESRP's form.
func reportESRP(stdout io.Writer, dirs, windows []string, merge bool, format, out string) error {
	if len(windows) > 0 || merge {
		return usageError("--output esrp: it takes the first window of records as they are, without --window and --merge")
	}
	var records []*result.Record
	// As written: the form certifies what was concluded when the records were made.
	for _, dir := range dirs {
		opened, err := compare.Open(conclude.Reader{AsWritten: true}, dir)
		if err != nil {
			return err
		}
		switch record := opened.(type) {
		case *result.Record:
			records = append(records, record)
		case result.Bench:
			if record.Median == "" {
				return fmt.Errorf("report %s: no run of the bench counts", dir)
			}
			median, err := conclude.Reader{AsWritten: true}.Run(filepath.Join(dir, record.Median))
			if err != nil {
				return err
			}
			// the run stands for the bench, and is judged as that
			median.Findings = record.Findings
			median.Limits = record.Limits
			records = append(records, median)
		default:
			return usageError("--output esrp: %s holds neither a run nor a bench", dir)
		}
	}
	page, err := report.ESRP(records)
	if err != nil {
		return err
	}
	how := formatFlags{"text", true}
	if format == esrpCSV {
		how.format = "csv"
	}
	return shown{page: page, csv: page.CSV}.deliver(stdout, how, out)
}

// printJSON writes v as every command writes its result in JSON.
func printJSON[T any](w io.Writer, v T) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

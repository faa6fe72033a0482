package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ds2/datagen"
	"ds2/datagen/directory"
	"ds2/internal/progress"
)

// generateFlags say what of a dataset is written as files, and where to.
type generateFlags struct {
	size, rows, words string
	dataSeed          uint64
	lines             string
	out, part, verify string
	tables            listed
	shard             string
	parallel          int
	resume, quiet     bool
}

const tableNames = "customers, orders, orderlines, cust_hist, products, inventory"

func newGenerateCommand() *cobra.Command {
	var f generateFlags
	cmd := newCommand("generate", interruptible("finished parts stay, for --resume", f.run))
	cmd.Args = cobra.ArbitraryArgs
	flags := cmd.Flags()
	// Writing is bound by the CPUs that make the rows, not by the drive.
	f.parallel = runtime.GOMAXPROCS(0)
	declare(flags, "generate", fields{
		"size":      &f.size,
		"rows":      &f.rows,
		"out":       &f.out,
		"tables":    &f.tables,
		"part":      &f.part,
		"data-seed": &f.dataSeed,
		"lines":     &f.lines,
		"words":     &f.words,
		"shard":     &f.shard,
		"parallel":  &f.parallel,
		"resume":    &f.resume,
		"verify":    &f.verify,
	})
	declare(flags, "shown", fields{"quiet": &f.quiet})
	return cmd
}

func (f *generateFlags) run(i *interrupts, cmd *cobra.Command, args []string) error {
	ctx := i.Soft
	toStdout := slices.Equal(args, []string{"-"})
	switch {
	case len(args) > 0 && !toStdout:
		return usageError("generate: unexpected argument %q; see ds2 generate --help", args[0])
	case (f.part != "") != toStdout:
		return usageError("--part NAME and the argument - belong together: ds2 generate --size S --part us_cust - prints one file")
	case f.verify == "" && f.part == "" && f.out == "":
		return usageError("--out is missing: the directory to write to")
	}
	if f.verify != "" {
		return f.verifyDirectory(ctx, cmd)
	}
	data, err := f.dataset()
	if err != nil {
		return err
	}
	if f.part != "" {
		return f.writePart(ctx, cmd.OutOrStdout(), data)
	}
	return f.writeDirectory(ctx, cmd, data)
}

// dataset reads what is to be generated.
func (f *generateFlags) dataset() (*datagen.Dataset, error) {
	var size datagen.Size
	var err error
	switch {
	case f.rows != "":
		if size, err = datagen.ParseRows(f.rows); err != nil {
			return nil, flagError("rows", err)
		}
	case f.size != "":
		if size, err = parseSize(f.size); err != nil {
			return nil, err
		}
	default:
		return nil, usageError("--size is missing: S is the smallest named one, see ds2 sizes")
	}
	words, err := readWords(f.words)
	if err != nil {
		return nil, err
	}
	// Parts are as long on every machine, so that the shards of several make one dataset.
	options := datagen.Options{
		CRLF: f.lines == "crlf", PartRows: directory.PartRows, Seed: f.dataSeed,
	}
	return datagen.New(size, words, options)
}

// writePart writes one file to standard output, for programs that read rows from a pipe.
func (f *generateFlags) writePart(
	ctx context.Context,
	stdout io.Writer,
	data *datagen.Dataset,
) error {
	name := strings.TrimSuffix(f.part, ".csv") + ".csv"
	files := data.Files()
	at := slices.IndexFunc(files, func(file datagen.File) bool { return file.Name == name })
	if at < 0 {
		return usageError("--part: unknown file %q: use us_cust, row_cust, jan_orders, jan_orderlines, jan_cust_hist and so on to dec_, prod or inv",
			f.part)
	}
	for _, part := range files[at].Parts {
		_, err := part.WriteTo(stdout)
		switch {
		case errors.Is(err, syscall.EPIPE): // head has seen enough
			return nil
		case err != nil:
			return fmt.Errorf("write %s: %w", name, err)
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
	return nil
}

// parseTables reads --tables, in any order; none means all.
func parseTables(names []string) ([]datagen.Table, error) {
	if len(names) == 0 {
		return datagen.Tables, nil
	}
	for _, name := range names {
		if !slices.Contains(datagen.Tables, datagen.Table(name)) {
			return nil, usageError("--tables: unknown table %q: use %s", name, tableNames)
		}
	}
	left := func(t datagen.Table) bool { return !slices.Contains(names, string(t)) }
	return slices.DeleteFunc(slices.Clone(datagen.Tables), left), nil
}

// writeDirectory writes the files of a shard, and their manifest before and after them: a file with
// a sum in it is whole, and is not made again by --resume.
func (f *generateFlags) writeDirectory(
	ctx context.Context,
	cmd *cobra.Command,
	data *datagen.Dataset,
) error {
	shard, err := directory.ParseShard(f.shard)
	if err != nil {
		return flagError("shard", err)
	}
	options := directory.Options{
		KitVersion: kitVersion(),
		Shard:      shard,
		Parallel:   f.parallel,
		Resume:     f.resume,
	}
	if options.Tables, err = parseTables(f.tables); err != nil {
		return err
	}
	plan, err := directory.NewPlan(f.out, data, options)
	if err != nil {
		return flagError("out", err)
	}
	tell, stop := showProgress(f.quiet, cmd.ErrOrStderr())("generate", progress.Bytes)
	start := time.Now()
	manifest, err := plan.Run(ctx, tell.Adder("", plan.Bytes()))
	stop()
	if err != nil {
		const continued = "generate: interrupted; the same command with --resume continues it"
		return interrupted(ctx, fmt.Errorf("generate: %w", err), continued)
	}
	printDirectory(cmd.OutOrStdout(), "wrote", f.out, manifest, time.Since(start))
	return nil
}

// verifyDirectory reads all files again and compares rows, bytes and checksums with the manifest. A
// difference is a verdict, exit 3, and no failure of the command.
func (f *generateFlags) verifyDirectory(ctx context.Context, cmd *cobra.Command) error {
	held, err := directory.Open(f.verify)
	if err != nil {
		return flagError("verify", err)
	}
	tell, stop := showProgress(f.quiet, cmd.ErrOrStderr())("verify", progress.Bytes)
	start := time.Now()
	err = held.Verify(ctx, f.parallel, tell.Adder("", held.Bytes()))
	stop()
	if damage, ok := errors.AsType[*directory.DamageError](err); ok {
		return verdictError("verify: %w", damage)
	}
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	printDirectory(cmd.OutOrStdout(), "verified", f.verify, held.Manifest, time.Since(start))
	return nil
}

// printDirectory prints what a directory holds, and how fast it was written or read.
func printDirectory(w io.Writer, did, dir string, m *directory.Manifest, took time.Duration) {
	var rows, bytes int64
	for _, e := range m.Files {
		rows = rows + e.Rows
		bytes = bytes + e.Bytes
	}
	rate := int64(float64(bytes) / took.Seconds())
	fmt.Fprintf(w, "%s %s: size %s, %d files, %d rows, %s of CSV in %s, %s/s\n", did, dir, m.Size,
		len(m.Files), rows, bytesText(bytes), took.Round(time.Millisecond), bytesText(rate))
}

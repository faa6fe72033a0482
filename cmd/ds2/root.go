package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/internal/preflight"
	"ds2/internal/result"
)

// Exit codes, as in docs/reference/command-line.md.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitVerdict     = 3 // ran, but an audit or a limit failed
	exitUnknown     = 4 // a limit or a gate cannot tell
	exitInterrupted = 130
)

// exitError carries an exit code other than exitFailed up to run.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usageError is wrong usage: exit 2. Its text names the flag or argument and what would be right.
func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// flagError is usageError for the value of one flag.
func flagError(flag string, err error) error { return usageError("--%s: %w", flag, err) }

// interrupted is err, or what a Ctrl-C made of it.
func interrupted(ctx context.Context, err error, what string) error {
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New(what)}
	}
	return err
}

// checkOut refuses a directory of --out that holds something or cannot be made; none may be given.
func checkOut(dir string) error {
	if dir == "" {
		return nil
	}
	if err := result.CheckDir(dir); err != nil {
		return flagError("out", err)
	}
	if f := preflight.Record(dir); f.State == preflight.Failure {
		return usageError("--out: %s", f.Found)
	}
	return nil
}

// recordDir is the directory of --out or, where none is given, one for a record of a run that
// begins now.
func recordDir(out, runID string) string {
	return cmp.Or(out, filepath.Join("ds2-results", result.DirName(time.Now(), runID)))
}

// unlessQuiet is where to tell what goes on.
func unlessQuiet(quiet bool, stderr io.Writer) io.Writer {
	if quiet {
		return io.Discard
	}
	return stderr
}

// verdictError is a run that ended with a failed audit or limit: exit 3.
func verdictError(format string, args ...any) error {
	return &exitError{exitVerdict, fmt.Errorf(format, args...)}
}

// verdictOf is the verdict of a command on its result: nil where nothing failed and a run counts.
func verdictOf(all []result.Finding) error {
	failed, open := result.Decided(all)
	switch {
	case failed != "":
		return verdictError("%s; see the record", failed)
	case open != "":
		return &exitError{exitUnknown, errors.New(open)}
	}
	return nil
}

// newRoot builds the command tree. Results go to the command's stdout, progress and logs to its
// stderr.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "ds2",
		Short:         "DVD Store 2 as a storage benchmark kit",
		Version:       kitVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate(versionLine())
	root.SetGlobalNormalizationFunc(normalizeFlag)
	add := func(heading string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: heading, Title: heading + ":"})
		for _, cmd := range commands {
			cmd.GroupID = heading
			if cmd.Args == nil {
				cmd.Args = flagsOnly
			}
		}
		root.AddCommand(commands...)
	}
	add("Data", newSizesCommand(), newGenerateCommand(), newSchemaCommand(), newLoadCommand(),
		newResetCommand(), newSnapshotCommand())
	add("Run", newDemoCommand(), newPreflightCommand(), newDriveCommand(), newBenchCommand(),
		newTuneCommand(), newDeviceCommand())
	add("Compare", newInitCommand(), newExperimentCommand(), newKubernetesCommand(),
		newCompareCommand(), newHistoryCommand())
	add("Check and report", newVerifyCommand(), newReportCommand())
	add("Other", newExporterCommand(), newConfigCommand(), newVersionCommand())
	root.SetHelpCommand(newHelpCommand())
	root.SetHelpCommandGroupID("Other")
	root.SetCompletionCommandGroupID("Other")
	addHelp(root)
	completeValues(root)
	return root
}

// timeUnits are what stands apart from a number of a time that was written as two words.
var timeUnits = strings.Fields("s sec secs second seconds m min mins minute minutes h hour hours")

// flagsOnly refuses an unexpected argument, such as Y in "--detailed-view Y".
func flagsOnly(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		name, _, given := strings.Cut(args[0], "=")
		switch {
		case given && cmd.Flags().Lookup(name) != nil:
			return fmt.Errorf("unexpected argument: write --%s", args[0])
		case strings.Contains(args[0], "://"):
			return fmt.Errorf("unexpected argument: write --target=%s", args[0])
		case slices.Contains(timeUnits, strings.ToLower(args[0])):
			return fmt.Errorf("unexpected argument %q: write a time as one word, such as 20m",
				args[0])
		case hasRecord(args[0]) && cmd.Flags().Lookup("record") != nil:
			return fmt.Errorf("unexpected argument: write --record=%s", args[0])
		case cmd.Name() == "init":
			return fmt.Errorf("unexpected argument: the file goes to standard output; write ds2 init > %s", args[0])
		}
		return fmt.Errorf("unexpected argument %q: write --flag=value", args[0])
	}
	return nil
}

// hasRecord says that a directory looks like a record.
func hasRecord(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, result.SummaryFile))
	return err == nil
}

// normalizeFlag lets every flag be written with - or _, as DS2's own parameters are, and by DS2's
// name.
func normalizeFlag(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	return pflag.NormalizedName(cmp.Or(aliases[name], name))
}

// noCommand is what a command does that has others below it; without it an unknown one would be no
// error.
func noCommand(cmd *cobra.Command, _ []string) error {
	names := mapped(cmd.Commands(), (*cobra.Command).Name)
	return usageError("%s is no command by itself: add %s; see %[1]s --help",
		cmd.CommandPath(), strings.Join(names, " or "))
}

// run executes the command line and returns the exit code; the only place that turns errors into
// one.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	messages := screenOn(stderr)
	stderr = messages
	defer messages.flush()
	if results := screenOn(stdout); columns(results) > 0 { // else files and programs read them
		stdout = results
		defer results.flush()
	}
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if !cmd.Runnable() {
			// flags of a command whose name is wrong
			cmd.RunE = noCommand
			cmd.FParseErrWhitelist.UnknownFlags = true
		}
	}
	started := false
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		err := cmp.Or(
			checkVariables(cmd.Root()), resolve(cmd.Context(), cmd.Flags()), checkTogether(cmd))
		started = err == nil
		return err
	}
	if err := checkTyped(args); err != nil {
		say(stderr, failed, " %s", redact(err.Error()))
		return exitUsage
	}
	root.Annotations = map[string]string{typed: commandLine(args)}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if !started { // an unknown command, flag or argument, or a flag that cannot be read
		say(stderr, failed, " %s; see %s --help",
			redact(suggest(cmd, flagText(err))), cmd.CommandPath())
		return exitUsage
	}
	if _, newer := errors.AsType[*result.NewerError](err); newer {
		err = fmt.Errorf("%w; this is ds2 %s", err, kitVersion())
	}
	say(stderr, failed, " %s", redact(err.Error()))
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	switch {
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, result.ErrNone): // what was named is no record
		return exitUsage
	}
	return exitFailed
}

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/datagen"
	"ds2/datagen/folder"
	"ds2/internal/limit"
	"ds2/schema"
)

// shells are those that completion knows, and what writes their scripts.
var shells = map[string]func(root *cobra.Command, w io.Writer) error{
	"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	"powershell": func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) },
	"zsh":        func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) },
}

func newCompletionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion {bash|zsh|fish|powershell}",
		Short: "Print a script that completes ds2's commands, flags and values in a shell",
		Long: `Prints the script by which a shell completes the commands of ds2, their flags, and values such as sizes, operations in
limits, and engines. The packages for Linux install it.`,
		Example: `  ds2 completion bash > /etc/bash_completion.d/ds2
  ds2 completion zsh > "${fpath[1]}/_ds2"
  ds2 completion fish > ~/.config/fish/completions/ds2.fish

PowerShell, for this session, or as a line of $PROFILE for all:
  ds2 completion powershell | Out-String | Invoke-Expression`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || shells[args[0]] == nil {
				return fmt.Errorf("name one shell: %s", strings.Join(slices.Sorted(maps.Keys(shells)), ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := shells[args[0]](cmd.Root(), cmd.OutOrStdout()); err != nil {
				return fmt.Errorf("write completion for %s: %w", args[0], err)
			}
			return nil
		},
	}
}

// completions complete the values of flags by the flag's name, in every command that has it. Flags of a choice complete
// themselves; all others complete to names of files.
var completions = map[string]cobra.CompletionFunc{
	"size":          completeSize,
	"limit":         completeLimit,
	"limits":        words(limit.Presets),
	"engine":        words(func() []string { return engines().Names() }),
	"phase":         words(phaseNames),
	"part":          words(partNames),
	"tables":        words(func() []string { return namesOf(datagen.Tables) }),
	"compress":      words(func() []string { return namesOf([]folder.Compression{folder.None, folder.Gzip, folder.Zstd}) }),
	"checksum":      words(func() []string { return namesOf([]folder.Checksum{folder.XXH128, folder.SHA256}) }),
	"lines":         cobra.FixedCompletions([]string{"lf", "crlf"}, cobra.ShellCompDirectiveNoFileComp),
	"window":        completeWindow,
	"target":        cobra.FixedCompletions([]string{"postgres://", "sqlserver://"}, cobra.ShellCompDirectiveNoSpace|cobra.ShellCompDirectiveNoFileComp),
	"detailed-view": cobra.FixedCompletions([]string{"Y", "N"}, cobra.ShellCompDirectiveNoFileComp),
	"record":        directories,
	"from":          directories,
	"dir":           directories,
	"postgres-bin":  directories,
}

// argumentCompletions complete the arguments of commands by the command's name; other commands take none.
var argumentCompletions = map[string]cobra.CompletionFunc{
	"sizes":      completeSize,
	"completion": words(func() []string { return slices.Sorted(maps.Keys(shells)) }),
	"report":     directories,
	"compare":    directories,
	"man":        directories,
	"experiment": yamlFiles,
	"init":       yamlFiles,
}

var (
	directories = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	yamlFiles   = cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt)
)

// completeValues gives the flags and arguments of a command, and of those below it, their completions.
func completeValues(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		complete, known := completions[f.Name]
		if c, ok := f.Value.(choice); ok {
			complete, known = cobra.FixedCompletions(c.of, cobra.ShellCompDirectiveNoFileComp), true
		}
		if known {
			if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
				panic(err) // registered twice
			}
		}
	})
	if cmd.ValidArgsFunction = argumentCompletions[cmd.Name()]; cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, sub := range cmd.Commands() {
		completeValues(sub)
	}
}

// words complete a value to one of a list that is made when it is asked for.
func words(list func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list(), cobra.ShellCompDirectiveNoFileComp
	}
}

func namesOf[T ~string](values []T) []string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return names
}

func phaseNames() []string {
	return namesOf(append(slices.Clone(schema.Phases), schema.Data, schema.Drop, schema.Reset))
}

// partNames are the files of a dataset, which are the same of every size.
func partNames() []string {
	data, err := datagen.New(datagen.S, datagen.DefaultWords(), datagen.Options{})
	if err != nil {
		return nil
	}
	var names []string
	for _, f := range data.Files() {
		names = append(names, strings.TrimSuffix(f.Name, ".csv"))
	}
	return names
}

// completeSize offers the named sizes and, after a number, its units; each with the bytes that it means.
func completeSize(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	sizes := []string{"S", "M", "W", "L"}
	if number := strings.TrimRightFunc(begun, unicode.IsLetter); number != "" {
		sizes = []string{number + "MB", number + "GB", number + "TB"}
	}
	var all []string
	for _, size := range sizes {
		if line, err := newSizeLine(size); err == nil {
			all = append(all, cobra.CompletionWithDesc(size, fmt.Sprintf("%d customers, %s of CSV", line.Customers, bytesText(line.CSVBytes))))
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// completeLimit offers the figures that a limit may bound, and then bounds to change.
func completeLimit(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveKeepOrder
	beginnings := limit.Beginnings(limitOperations()...)
	for _, b := range beginnings {
		if strings.HasPrefix(begun, b) {
			return []string{b + " " + limit.Example(b)}, directive
		}
	}
	return beginnings, directive
}

// completeWindow offers the forms of a window.
func completeWindow(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{
		cobra.CompletionWithDesc("auto", "the steady part of the run"),
		cobra.CompletionWithDesc("checkpoints=2", "the last two whole checkpoint cycles"),
		cobra.CompletionWithDesc("1000s-1200s", "seconds since the first orders"),
	}, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

package main

import (
	"fmt"
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

// completions complete the values of flags by the flag's name, in every command that has it. Flags of a choice complete
// themselves; all others complete to names of files.
var completions = map[string]cobra.CompletionFunc{
	"size":          completeSize,
	"limit":         completeLimit,
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
	cmd.Flags().SortFlags = false // as help shows them: in the order in which they are declared
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
	return slices.Concat(beginnings, limit.Presets()), directive
}

// completeWindow offers the forms of a window.
func completeWindow(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{
		cobra.CompletionWithDesc("auto", "the steady part of the run"),
		cobra.CompletionWithDesc("checkpoints=2", "the last two whole checkpoint cycles"),
		cobra.CompletionWithDesc("1000s-1200s", "seconds since the first orders"),
	}, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

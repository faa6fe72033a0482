package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/datagen"
	"ds2/internal/limit"
)

// completions complete the values of flags by the flag's name, in every command that has it. Flags of a choice complete
// themselves; all others complete to names of files.
var completions = map[string]cobra.CompletionFunc{
	"size":          choices("S", "M", "W", "L"),
	"limit":         choices(limit.Presets()...),
	"engine":        choices(engines().Names()...),
	"tables":        choices(datagen.Tables...),
	"lines":         choices("lf", "crlf"),
	"window":        choices("auto", "checkpoints=2"),
	"target":        schemes,
	"detailed-view": choices("Y", "N"),
	"record":        directories,
	"from":          directories,
	"dir":           directories,
	"postgres-bin":  directories,
}

// argumentCompletions complete the arguments of commands by the command's name; other commands take none.
var argumentCompletions = map[string]cobra.CompletionFunc{
	"sizes":      choices("S", "M", "W", "L"),
	"report":     directories,
	"compare":    directories,
	"experiment": yamlFiles,
}

var (
	directories = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	yamlFiles   = cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt)
	schemes     = cobra.FixedCompletions([]string{"postgres://", "sqlserver://"},
		cobra.ShellCompDirectiveNoSpace|cobra.ShellCompDirectiveNoFileComp)
)

// completeValues gives the flags and arguments of a command, and of those below it, their completions.
func completeValues(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false // as help shows them: in the order in which they are declared
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		complete, known := completions[f.Name]
		if c, ok := f.Value.(choice); ok {
			complete, known = choices(c.of...), true
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

// choices complete a value to one of a few.
func choices[T ~string](values ...T) cobra.CompletionFunc {
	var words []cobra.Completion
	for _, v := range values {
		words = append(words, string(v))
	}
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Completions of arguments.
var (
	directories = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	yamlFiles   = cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt)
)

// wordsOf annotates a flag with what its value completes to; a flag of a choice needs none, and others complete to
// files.
const wordsOf = "words"

// complete has the value of a flag complete to one of a few words, or to what may follow them where they end in a
// slash.
func complete[T ~string](flags *pflag.FlagSet, name string, words ...T) {
	var all []string
	for _, word := range words {
		all = append(all, string(word))
	}
	annotate(flags, name, wordsOf, all...)
}

func completeDirectories(flags *pflag.FlagSet, name string) {
	annotate(flags, name, cobra.BashCompSubdirsInDir)
}

// completeValues gives the flags and arguments of a command, and of those below it, their completions.
func completeValues(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false // as help shows them: in the order in which they are declared
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		words := f.Annotations[wordsOf]
		if c, ok := f.Value.(choice); ok {
			words = c.of
		}
		if words == nil {
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, choices(words...)); err != nil {
			panic(err) // registered twice
		}
	})
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, sub := range cmd.Commands() {
		completeValues(sub)
	}
}

// choices complete a value to one of a few.
func choices(words ...string) cobra.CompletionFunc {
	directive := cobra.ShellCompDirectiveNoFileComp
	if strings.HasSuffix(words[0], "/") {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return cobra.FixedCompletions(words, directive)
}

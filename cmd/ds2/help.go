package main

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroups are the headings of --help=all in their order; what only one workload or DVD Store's
// own driver has stands last.
var flagGroups = []string{
	"Target", "Dataset", "Load shape", "Procedure", "Measuring", "Limits", "Observing",
	"Placement", "Output", "DVD Store", "Mailbox", "DVD Store compatibility",
}

// What flags are annotated with.
const (
	headingOf = "heading" // in the help
	firstOf   = "first"   // a first run needs it
	// what its value completes to; a choice needs none, and others complete to files
	wordsOf = "words"
	// the workload that alone has it
	ofWorkload = "workload"
)

func annotate(flags *pflag.FlagSet, name, key string, values ...string) {
	if err := flags.SetAnnotation(name, key, values); err != nil {
		panic(err) // it was not declared
	}
}

//go:embed help
var helpTexts embed.FS

// newCommand is a command whose use, summary, description and examples stand in help/NAME.txt.
func newCommand(name string, run runE) *cobra.Command {
	text, err := helpTexts.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err) // it is no file of the program
	}
	about, examples, _ := strings.Cut(strings.TrimSpace(string(text)), "\n\nExamples:\n")
	use, about, _ := strings.Cut(about, "\n")
	short, long, _ := strings.Cut(about, "\n\n")
	return &cobra.Command{Use: use, Short: short, Long: long, Example: examples, RunE: run}
}

const (
	// fewFlags is how many flags a command may have to be shown with all of them.
	fewFlags = 25
	// helpWidth is how long a line of the help may be.
	helpWidth = 80
)

// readHelp reads what --help asks for: "true" where it has no value, "all", or the name of a group.
func readHelp(text string) (string, error) {
	if text != "true" && text != "all" && !slices.Contains(groupNames(), text) {
		return "", fmt.Errorf("invalid value %q: use --help, --help=all, or one group of flags: %s",
			text, strings.Join(groupNames(), ", "))
	}
	return text, nil
}

// groupNames are the groups of flags as --help takes them.
func groupNames() []string {
	return mapped(flagGroups, func(g string) string {
		return strings.ReplaceAll(strings.ToLower(g), " ", "-")
	})
}

// init sets what cobra has once for all commands of a program; tests make many at once.
func init() {
	cobra.EnableCommandSorting = false
	cobra.AddTemplateFunc("groupedFlags", func(cmd *cobra.Command) string {
		return groupedFlags(cmd,
			*cmd.Root().PersistentFlags().Lookup("help").Value.(parsed[string]).value)
	})
}

// addHelp has commands of many flags show those that a first run needs, all of them, under
// headings, by --help=all, and those of one heading by its name.
func addHelp(root *cobra.Command) {
	flags := root.PersistentFlags()
	write := func(string) string { return "true" }
	help := parsed[string]{new(string), "bool", readHelp, write, "false"} // a bool to cobra
	flags.VarP(help, "help", "h", "help; all flags by --help=all, one group by --help=GROUP")
	flags.Lookup("help").NoOptDefVal = "true"
	annotate(flags, "help", headingOf, "Output")
	annotate(flags, "help", firstOf)
	root.SetUsageTemplate(strings.NewReplacer(
		"\n\nFlags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", "{{groupedFlags .}}",
		"\n\nGlobal Flags:\n{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}", "",
	).Replace(root.UsageTemplate()))
}

// groupedFlags are the flags of a command as its help shows them; asked is the value of --help.
func groupedFlags(cmd *cobra.Command, asked string) string {
	var all []*pflag.Flag
	flags := cmd.Flags()
	flags.SortFlags = false // those of cobra's own commands, too
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			all = append(all, f)
		}
	})
	names := groupNames()
	isGroup := slices.Contains(names, asked)
	if len(all) <= fewFlags && !isGroup {
		return usages("Flags", all, func(*pflag.Flag) bool { return true })
	}
	text := ""
	for i, g := range flagGroups {
		if asked == names[i] || asked == "all" {
			text += usages(g, all, func(f *pflag.Flag) bool {
				return slices.Contains(f.Annotations[headingOf], g)
			})
		}
	}
	if isGroup || asked == "all" {
		return text
	}
	// A run has so many flags that those which no first run does without would be lost among them.
	isFirst := func(f *pflag.Flag) bool { _, first := f.Annotations[firstOf]; return first }
	first := usages("Flags for a first run", all, isFirst)
	return fmt.Sprintf(
		"%s\n\n--help=all shows all %d flags, --help=GROUP those of one group:\n  %s\n  %s",
		first,
		len(all),
		strings.Join(names[:6], ", "),
		strings.Join(names[6:], ", "),
	)
}

// usages are those of some flags below a heading, or nothing where there are none.
func usages(heading string, all []*pflag.Flag, shown func(*pflag.Flag) bool) string {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	some.SortFlags = false
	for _, f := range all {
		if shown(f) {
			some.AddFlag(f)
		}
	}
	if !some.HasFlags() {
		return ""
	}
	return "\n\n" + heading + ":\n" + strings.TrimRight(some.FlagUsagesWrapped(helpWidth), "\n")
}

// newHelpCommand is help as a command; unlike cobra's it fails where there is no such command.
func newHelpCommand() *cobra.Command {
	cmd := newCommand("help", func(cmd *cobra.Command, args []string) error {
		shown, _, err := cmd.Root().Find(args)
		if err != nil {
			return usageError("%s", suggest(cmd, err))
		}
		return shown.Help()
	})
	cmd.Args = cobra.ArbitraryArgs
	return cmd
}

// Completions of arguments.
var (
	directories = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	yamlFiles   = cobra.FixedCompletions([]string{"yaml", "yml"},
		cobra.ShellCompDirectiveFilterFileExt)
)

// completeValues gives the flags and arguments of a command, and of those below it, their
// completions.
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
	// The beginning of a URL, at which one types on.
	if strings.HasSuffix(words[0], "/") {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return cobra.FixedCompletions(words, directive)
}

package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The value of a flag comes from the first of these that has one: the command line, with its
// --config-file; the file of an experiment; the environment; the profile; the flag's default. There
// is no other order: all commands resolve their flags here.

// sourceOf annotates a flag with where its value comes from, unless that is the command line or the
// default.
const sourceOf = "source"

// onlyTyped annotates a flag that has no variable, as that of its name is for others.
const onlyTyped = "only typed"

// resolve sets each flag that the command line does not give.
func resolve(ctx context.Context, flags *pflag.FlagSet) error {
	for _, name := range []string{fileFlag, configurationFlag} {
		if err := readVariable(flags, flags.Lookup(name)); err != nil {
			return err
		}
	}
	if err := readFile(ctx, flags); err != nil {
		return err
	}
	return resolveRest(flags)
}

// resolveRest sets each flag that neither the command line nor a file gives.
func resolveRest(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		if err == nil {
			err = readVariable(flags, f)
		}
	})
	if err != nil {
		return err
	}
	// Last, as a profile may itself come from a variable.
	profile := textOf(flags, "profile")
	otherTime := flags.Changed("run-time")
	for pair := range strings.FieldsSeq(profiles[profile]) {
		name, value, _ := strings.Cut(pair, "=")
		if name == "window" && otherTime {
			continue // it is that of a run as long as the profile's
		}
		if f := flags.Lookup(name); f != nil && !f.Changed {
			if err := flags.Set(name, value); err != nil {
				return flagError("profile", err)
			}
			annotate(flags, name, sourceOf, "profile "+profile)
		}
	}
	return nil
}

// readFile takes flags from the configuration of an experiment that --file and --configuration
// name.
func readFile(ctx context.Context, flags *pflag.FlagSet) error {
	path := textOf(flags, fileFlag)
	configuration := textOf(flags, configurationFlag)
	switch {
	case path == "" && configuration == "":
		return nil
	case path == "":
		return usageError("--%s: it is one of a file, which --%s names", configurationFlag,
			fileFlag)
	}
	file, err := readExperimentFile(ctx, path)
	if err != nil {
		return err
	}
	return file.fill(ctx, flags, configuration)
}

// variablesOf are the variables of a flag, the first of which that is set counts: DS2_THREADS and
// DS2_N_THREADS of --threads. --config-file has none: what such a file says counts in its place
// among the arguments.
func variablesOf(flag string) (variables []string) {
	if flag == configFileFlag || flag == "help" {
		return nil
	}
	names := []string{flag}
	for _, alias := range slices.Sorted(maps.Keys(aliases)) {
		if aliases[alias] == flag {
			names = append(names, alias)
		}
	}
	return mapped(names, func(name string) string {
		return variablePrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	})
}

const variablePrefix = "DS2_"

// readVariable sets a flag that has no value yet from its variable; nil is none.
func readVariable(flags *pflag.FlagSet, f *pflag.Flag) error {
	if f == nil || f.Changed || f.Annotations[onlyTyped] != nil {
		return nil
	}
	for _, variable := range variablesOf(f.Name) {
		value, ok := os.LookupEnv(variable)
		if !ok {
			continue
		}
		if err := flags.Set(f.Name, value); err != nil {
			return usageError("variable %s: %w", variable, flagText(err))
		}
		annotate(flags, f.Name, sourceOf, variable)
		return nil
	}
	return nil
}

// ofOthersVariable are the variables that are not for flags: those of ds2's tests, and those that
// Kubernetes sets for services that are named like ds2.
var ofOthersVariable = regexp.MustCompile(
	`^DS2_(TEST_.*|(\w+_)?(SERVICE_(HOST|PORT)\w*|PORT(_\d+_\w+)?))$`,
)

// checkVariables refuses a variable that looks like one of a flag and is none of any command:
// misspelt, it would leave a run at a default in silence.
func checkVariables(root *cobra.Command) error {
	known := map[string]bool{}
	every := pflag.NewFlagSet("", pflag.ContinueOnError)
	addVariables(root, known, every)
	for _, text := range os.Environ() {
		variable, _, _ := strings.Cut(text, "=")
		if !strings.HasPrefix(variable, variablePrefix) || known[variable] ||
			ofOthersVariable.MatchString(variable) {
			continue
		}
		name := strings.ToLower(strings.TrimPrefix(variable, variablePrefix))
		meant := ""
		if near := nearest(every, name); near != "" {
			meant = "; did you mean " + variablesOf(near)[0] + "?"
		}
		return fmt.Errorf("variable %s: no command has a flag of that name%s", variable, meant)
	}
	return nil
}

// addVariables notes the flags of a command, and of those below it, and their variables.
func addVariables(cmd *cobra.Command, known map[string]bool, every *pflag.FlagSet) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		variables := variablesOf(f.Name)
		for _, variable := range variables {
			known[variable] = true
		}
		if variables != nil && every.Lookup(f.Name) == nil {
			every.AddFlag(f)
		}
	})
	for _, sub := range cmd.Commands() {
		addVariables(sub, known, every)
	}
}

// textOf is the value of a flag; empty where a command does not have it.
func textOf(flags *pflag.FlagSet, name string) string {
	if f := flags.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// The flags by which a command takes others from the file of an experiment.
const (
	fileFlag          = "file"
	configurationFlag = "configuration"
)

// fill sets the flags that are not given from one configuration of the file. Those that a command
// does not have are for others.
func (f *experimentFile) fill(ctx context.Context, flags *pflag.FlagSet, name string) error {
	for _, c := range f.configurations {
		if c.Name != name && (name != "" || len(f.configurations) > 1) {
			continue
		}
		for key, g := range c.Given {
			if flag := flags.Lookup(key); flag != nil && !flag.Changed {
				if err := f.set(ctx, flags, key, g); err != nil {
					return err
				}
				annotate(flags, key, sourceOf, f.Path)
			}
		}
		if flag := flags.Lookup("runs"); flag != nil && !flag.Changed &&
			f.Own["runs"].Values != nil {
			return flags.Set("runs", fmt.Sprint(f.runs.Least))
		}
		return nil
	}
	names := strings.Join(mapped(f.configurations, func(c *variant) string {
		return c.Name
	}), "; ")
	if name == "" {
		return usageError("--%s: %s has several configurations: name one by --%s: %s",
			fileFlag, f.Path, configurationFlag, names)
	}
	return usageError("--%s: %s has no configuration %q; it has %s", configurationFlag, f.Path,
		name, names)
}

func newConfigCommand() *cobra.Command {
	cmd := newCommand("config", func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 || slices.Contains(args, "--help") || slices.Contains(args, "-h") {
			return cmd.Help()
		}
		shown, rest, err := cmd.Root().Find(args)
		if err != nil {
			return usageError("%s", suggest(cmd, err))
		}
		if err := shown.ParseFlags(rest); err != nil {
			return usageError("%s", suggest(shown, flagText(err)))
		}
		if err := resolve(cmd.Context(), shown.Flags()); err != nil {
			return err
		}
		printSettings(cmd.OutOrStdout(), shown.Flags())
		return nil
	})
	cmd.Args = cobra.ArbitraryArgs
	cmd.DisableFlagParsing = true
	return cmd
}

// printSettings prints the flags that have a value.
func printSettings(w io.Writer, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		value := withoutPasswords(f.Value.String())
		if f.Name == passwordCommand && value != "" {
			value = "***"
		}
		source := "default"
		switch noted := f.Annotations[sourceOf]; {
		case noted != nil:
			source = noted[0]
		case f.Changed:
			source = "command line"
		}
		if value != "" && value != "[]" && f.Name != "help" && !f.Hidden {
			fmt.Fprintf(w, "%-20s %s  (%s)\n", f.Name, quoted(value), source)
		}
	})
}

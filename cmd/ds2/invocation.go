package main

import (
	"context"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/internal/result"
	"ds2/internal/workload"
)

// argumentsKey is where a context has the arguments of the command line.
type argumentsKey struct{}

// withArguments keeps the arguments of the command line for the record.
func withArguments(ctx context.Context, args []string) context.Context {
	return context.WithValue(ctx, argumentsKey{}, args)
}

// invocation is how ds2 was called, for the record: without passwords, as far as a text shows that it holds one.
func invocation(cmd *cobra.Command) *result.Command { return invocationWith(cmd, cmd.Flags(), nil) }

// invocationWith is an invocation with the flags of a run that the command line does not give itself, without those that the run's
// workload does not have.
func invocationWith(cmd *cobra.Command, flags *pflag.FlagSet, plan workload.Plan) *result.Command {
	others := map[string]string{}
	if plan != nil { // else nobody knows of which workload the run would have been
		others = ofOthers(plan.Workload().Name(), func(t tenant) []string { return t.runFlags })
	}
	args, _ := cmd.Context().Value(argumentsKey{}).([]string)
	words := []string{"ds2"}
	for i, arg := range args {
		if i > 0 && args[i-1] == "--"+passwordCommand {
			arg = "***"
		} else if name, _, given := strings.Cut(arg, "="); given && name == "--"+passwordCommand {
			arg = name + "=***"
		}
		words = append(words, quoted(withoutPasswords(arg)))
	}
	c := &result.Command{Line: strings.Join(words, " "), Flags: map[string]string{}}
	flags.VisitAll(func(f *pflag.Flag) {
		value := f.Value.String()
		_, other := others[f.Name]
		switch {
		case value == "" || f.Name == "help" || other:
		case f.Name == passwordCommand:
			c.Flags[f.Name] = "***"
		default:
			c.Flags[f.Name] = withoutPasswords(value)
		}
	})
	return c
}

// passwordCommand is the flag whose value may itself hold the password, so that no record has it.
const passwordCommand = "password-command"

// commandPassword is a password among the words of a command that a user gives, such as a meter's.
var commandPassword = regexp.MustCompile(`(^|\s)(-P|--?pass(?:word)?)(\s+)\S+`)

// withoutPasswords takes the passwords out of an argument or value, in which several URLs may stand with ; between.
func withoutPasswords(text string) string {
	parts := strings.Split(text, ";")
	for i, part := range parts {
		parts[i] = commandPassword.ReplaceAllString(redact(part), "$1$2$3***")
	}
	return strings.Join(parts, ";")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./*-]+$`)

// quoted is a word as a shell reads it.
func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// checkTyped refuses a flag whose dashes a word processor has made long, and -h with a host.
func checkTyped(args []string) error {
	const long = "\u2013\u2014\u2212"
	for i, arg := range args {
		// In psql and pgbench -h is the host.
		if i > 1 && args[i-1] == "-h" && !strings.HasPrefix(arg, "-") {
			return fmt.Errorf("-h is help here; did you mean --target=postgres://%s/DATABASE?", arg)
		}
		name := strings.TrimLeft(arg, "-"+long)
		if strings.ContainsAny(strings.TrimSuffix(arg, name), long) {
			return fmt.Errorf("%s: that dash is not --; write --%s", arg, name)
		}
	}
	return nil
}

// suggest is an error of the command line in one line, with the flag or command that was meant.
func suggest(cmd *cobra.Command, err error) string {
	text, commands, mistyped := strings.Cut(strings.TrimSpace(err.Error()),
		"\n\nDid you mean this?\n\t")
	if mistyped {
		text = fmt.Sprintf("%s; did you mean %s?", text,
			strings.ReplaceAll(commands, "\n\t", " or "))
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return text
	}
	name := unknown.GetSpecifiedName()
	letters, _, _ := strings.Cut(unknown.GetSpecifiedShortnames(), "=")
	if len(letters) > 1 { // a name with one dash
		if f := cmd.Flags().Lookup(letters); f != nil {
			return fmt.Sprintf("%s; did you mean --%s?", text, f.Name)
		}
	}
	if of := commandsWith(cmd.Root(), name); of != "" {
		return fmt.Sprintf("%s; it is a flag of %s", text, of)
	}
	best := meantByLetter[name]
	if len(name) > 1 {
		if best = nearest(cmd.Flags(), name); best != "" {
			best = "--" + best
		}
	}
	if best != "" {
		text = fmt.Sprintf("%s; did you mean %s?", text, best)
	}
	return text
}

// commandsWith names the commands that have a flag, three at most; empty if none has.
func commandsWith(root *cobra.Command, name string) string {
	var names []string
	for _, other := range root.Commands() {
		if f := other.Flags().Lookup(name); f != nil && len(name) > 1 && len(names) < 3 {
			names = append(names, other.CommandPath())
		}
	}
	return strings.Join(names, ", ")
}

// nearest is the flag that was meant by a name; empty if none is near.
func nearest(flags *pflag.FlagSet, name string) (best string) {
	name = strings.ReplaceAll(name, "_", "-")
	if other := meant[name]; flags.Lookup(other) != nil {
		return other
	}
	fewest := 3 // more than the letters by which a flag may differ from what was typed
	flags.VisitAll(func(f *pflag.Flag) {
		if typos := distance(name, f.Name); typos < fewest && !f.Hidden {
			best = f.Name
			fewest = typos
		}
	})
	return best
}

// distance is how many letters must be inserted, left out or replaced to make b of a (Levenshtein),
// by one row of its table; diagonal is what stood to the left in the row above.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

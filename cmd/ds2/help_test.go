package main

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"

	"ds2/internal/texttest"
)

func TestVersion(t *testing.T) {
	version := must(t, "version")
	assert.Equal(t, version, must(t, "--version"))
	assert.Regexp(t, "^ds2 ", version)
}

// TestHelpGroups: the help of a run shows what a first run needs, and all flags by --help=all, each
// once, under a heading that exists for it. --help=GROUP shows the flags of one heading. No line of
// any help is longer than a terminal is wide.
func TestHelpGroups(t *testing.T) {
	root := newRoot()
	for _, cmd := range withThoseBelow(root) {
		args := strings.Fields(cmd.CommandPath())[1:]
		_, all, _ := execute(t, append(slices.Clone(args), "--help=all")...)
		_, short, _ := execute(t, append(slices.Clone(args), "--help")...)
		// The text of completion for shells is cobra's.
		for line := range strings.Lines(all + short) {
			width := utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))
			assert.NotRegexp(t, `^ +--.* \n`, line, "%s --help: a flag's text begins in its next line",
				cmd.CommandPath())
			assert.True(t, width <= helpWidth || strings.Contains(cmd.CommandPath(), "completion "),
				"%s --help has a line of %d characters: %s", cmd.CommandPath(), width, line)
		}
		assert.True(
			t,
			cmd.Parent() != root || cmd.GroupID != "",
			"%s stands under no heading",
			cmd.CommandPath(),
		)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			shown := strings.Contains(all, " --"+f.Name+" ") ||
				strings.Contains(all, " --"+f.Name+"[")
			assert.True(
				t,
				shown || f.Name == "help",
				"%s --help=all does not show --%s",
				cmd.CommandPath(),
				f.Name,
			)
			alone := !strings.Contains("load drive bench tune preflight", cmd.Name())
			assert.True(t, f.Annotations[headingOf] != nil || alone,
				"%s: --%s stands under no heading", cmd.CommandPath(), f.Name)
		})
		n := strings.Count(short, "\n      --") + strings.Count(short, "\n  -")
		assert.LessOrEqual(t, n, fewFlags, "flags that %s --help shows", cmd.CommandPath())
	}
	_, limits, _ := execute(t, "drive", "--help=limits")
	texttest.Contains(t, limits, "\nLimits:\n", "--abort-on-fail")
	assert.NotContains(t, limits, "--target string")
}

// TestCompletionValues asks as a shell's script does.
func TestCompletionValues(t *testing.T) {
	for _, c := range []struct {
		why       string
		args      []string
		want      []string // some of the answers
		directive string
	}{
		{
			"sizes by DS2's name of the flag",
			[]string{"load", "--db_size_str="},
			[]string{"S", "W"},
			":4",
		},
		{"sizes as arguments", []string{"sizes", "S", ""}, []string{"M"}, ":4"},
		{"sets of limits", []string{"drive", "--limit", ""}, []string{"exchange2013"}, ":4"},
		{
			"words of a choice",
			[]string{"bench", "--restore", ""},
			[]string{"reset", "snapshot", "none"},
			":4",
		},
		{"engines", []string{"drive", "--engine", ""}, []string{"postgres", "sqlserver"}, ":4"},
		{"phases", []string{"schema", "--phase", ""}, []string{"tables", "reset"}, ":4"},
		{"directories", []string{"compare", ""}, nil, ":16"},
		{"directories of a flag", []string{"load", "--from", ""}, nil, ":16"},
		{
			"the beginning of a URL",
			[]string{"drive", "--target", ""},
			[]string{"postgres://"},
			":6",
		},
		{"an experiment's file", []string{"experiment", ""}, []string{"yaml"}, ":8"},
		{
			"a shell",
			[]string{"completion", "p"},
			[]string{"powershell\tGenerate the autocompletion script for powershell"},
			":4",
		},
		{
			"a command that is visible",
			[]string{"comp"},
			[]string{"completion\tGenerate the autocompletion script for the specified shell"},
			":4",
		},
		{"a command without arguments", []string{"drive", ""}, nil, ":4"},
	} {
		stdout := must(t, append([]string{cobra.ShellCompRequestCmd}, c.args...)...)
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		assert.Equal(t, c.directive, lines[len(lines)-1], c.why)
		for _, want := range c.want {
			assert.Contains(t, lines, want, c.why)
		}
	}
}

// withThoseBelow are a command and all below it.
func withThoseBelow(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, below := range cmd.Commands() {
		all = append(all, withThoseBelow(below)...)
	}
	return all
}

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

// TestHelpGroups: the help of a run shows what a first run needs, and all flags by --help=all, each once, under a
// heading that exists for it. --help=GROUP shows the flags of one heading. No line of any help is longer than a
// terminal is wide.
func TestHelpGroups(t *testing.T) {
	root := newRoot()
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		args := strings.Fields(cmd.CommandPath())[1:]
		_, all, _ := execute(t, append(slices.Clone(args), "--help=all")...)
		_, short, _ := execute(t, append(slices.Clone(args), "--help")...)
		// The text of completion for shells is cobra's.
		for line := range strings.Lines(all + short) {
			width := utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))
			assert.True(t, width <= helpWidth || strings.Contains(cmd.CommandPath(), "completion "),
				"%s --help has a line of %d characters: %s", cmd.CommandPath(), width, line)
		}
		assert.True(t, cmd.Parent() != root || cmd.GroupID != "", "%s stands under no heading", cmd.CommandPath())
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			shown := strings.Contains(all, " --"+f.Name+" ") || strings.Contains(all, " --"+f.Name+"[")
			assert.True(t, shown || f.Name == "help", "%s --help=all does not show --%s", cmd.CommandPath(), f.Name)
			alone := !strings.Contains("load drive bench tune preflight", cmd.Name())
			assert.True(t, f.Annotations[headingOf] != nil || alone,
				"%s: --%s stands under no heading", cmd.CommandPath(), f.Name)
		})
		n := strings.Count(short, "\n      --") + strings.Count(short, "\n  -")
		assert.LessOrEqual(t, n, fewFlags, "flags that %s --help shows", cmd.CommandPath())
		for _, below := range cmd.Commands() {
			walk(below)
		}
	}
	walk(root)
	_, limits, _ := execute(t, "drive", "--help=limits")
	texttest.Contains(t, limits, "\nLimits:\n", "--abort-on-fail")
	assert.NotContains(t, limits, "--target string")
}

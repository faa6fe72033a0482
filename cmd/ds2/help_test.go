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
	known := map[string]bool{"help": true}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		args := strings.Fields(cmd.CommandPath())[1:]
		_, all, _ := execute(t, append(slices.Clone(args), "--help=all")...)
		_, short, _ := execute(t, append(slices.Clone(args), "--help")...)
		// The text of completion for shells is cobra's.
		for line := range strings.Lines(all + short) {
			width := utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))
			if width > helpWidth && !strings.Contains(cmd.CommandPath(), "completion ") {
				t.Errorf("%s --help has a line of %d characters: %s", cmd.CommandPath(), width, line)
			}
		}
		if cmd.Parent() == root && cmd.GroupID == "" {
			t.Errorf("%s stands under no heading", cmd.CommandPath())
		}
		flags := 0
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			flags++
			known[f.Name] = true
			shown := strings.Contains(all, " --"+f.Name+" ") || strings.Contains(all, " --"+f.Name+"[")
			if f.Name != "help" && !shown {
				t.Errorf("%s --help=all does not show --%s", cmd.CommandPath(), f.Name)
			}
			grouped := slices.ContainsFunc(flagGroups, func(g struct{ heading, flags string }) bool {
				return slices.Contains(strings.Fields(g.flags), f.Name)
			})
			if strings.Contains("load drive bench tune preflight", cmd.Name()) && !grouped {
				t.Errorf("%s: --%s stands under no heading", cmd.CommandPath(), f.Name)
			}
		})
		if n := strings.Count(short, "\n      --") + strings.Count(short, "\n  -"); n > fewFlags {
			t.Errorf("%s --help shows %d flags of %d", cmd.CommandPath(), n, flags)
		}
		for _, below := range cmd.Commands() {
			walk(below)
		}
	}
	walk(root)
	for _, g := range flagGroups {
		for _, name := range strings.Fields(g.flags) {
			assert.True(t, known[name], "%s: there is no flag --%s", g.heading, name)
		}
	}
	_, crashes, _ := execute(t, "drive", "--help=crashes")
	texttest.Contains(t, crashes, "\nCrashes:\n", "--crash-cycles")
	if strings.Contains(crashes, "--target string") {
		t.Errorf("--help=crashes shows %s", crashes)
	}
}

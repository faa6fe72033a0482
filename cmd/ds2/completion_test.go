package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
)

// TestCompletionValues asks as a shell's script does.
func TestCompletionValues(t *testing.T) {
	for _, c := range []struct {
		why       string
		args      []string
		want      []string // some of the answers
		directive string
	}{
		{"sizes by DS2's name of the flag", []string{"load", "--db_size_str="}, []string{"S", "W"}, ":4"},
		{"sizes as arguments", []string{"sizes", "S", ""}, []string{"M"}, ":4"},
		{"sets of limits", []string{"drive", "--limit", ""}, []string{"exchange2013"}, ":4"},
		{"words of a choice", []string{"bench", "--restore", ""}, []string{"reset", "snapshot", "none"}, ":4"},
		{"engines", []string{"drive", "--engine", ""}, []string{"postgres", "sqlserver"}, ":4"},
		{"phases", []string{"schema", "--phase", ""}, []string{"tables", "reset"}, ":4"},
		{"directories", []string{"compare", ""}, nil, ":16"},
		{"directories of a flag", []string{"load", "--from", ""}, nil, ":16"},
		{"the beginning of a URL", []string{"drive", "--target", ""}, []string{"postgres://"}, ":6"},
		{"an experiment's file", []string{"experiment", ""}, []string{"yaml"}, ":8"},
		{"a shell", []string{"completion", "p"},
			[]string{"powershell\tGenerate the autocompletion script for powershell"}, ":4"},
		{"a command that is visible", []string{"comp"},
			[]string{"completion\tGenerate the autocompletion script for the specified shell"}, ":4"},
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

// TestCompletionScripts: each shell gets a script, and bash completes by it.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		assert.Contains(t, must(t, "completion", shell), "__complete")
	}
	// As bash does at a tab, without the functions of the package bash-completion.
	out, err := exec.Command("bash", "-c", `source <(ds2 completion bash)
		_get_comp_words_by_ref() {
			words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
		}
		COMP_WORDS=(ds2 load --size "") COMP_CWORD=3 COMP_LINE="ds2 load --size " COMP_POINT=16 COMP_TYPE=9
		__start_ds2; printf '%s\n' "${COMPREPLY[@]}"`).Output()
	assert.True(t, err == nil && slices.Contains(strings.Fields(string(out)), "W"), "bash: %v, %s", err, out)
}

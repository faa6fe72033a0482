package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestFlagsOfDocuments looks up every command of ds2 and every flag that the documents name.
func TestFlagsOfDocuments(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	root := newRoot()
	root.InitDefaultHelpFlag()
	any := map[string]bool{}
	var gather func(c *cobra.Command)
	gather = func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		c.Flags().VisitAll(func(f *pflag.Flag) { any[f.Name] = true })
		for _, below := range c.Commands() {
			gather(below)
		}
	}
	gather(root)
	code := regexp.MustCompile("(?m)`([^`]+)`|^    (.*)$")
	commands, flags := 0, 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(page)
		for _, m := range code.FindAllStringSubmatch(string(text), -1) {
			words := strings.Fields(m[1] + m[2])
			if len(words) > 0 && strings.HasPrefix(words[0], "--") {
				flag := flagName(words[0])
				if flags++; !any[flag] {
					t.Errorf("%s: no command has --%s", name, flag)
				}
				continue
			}
			if len(words) < 2 || words[0] != "ds2" && words[0] != "bin/ds2" || words[1] != strings.ToLower(words[1]) {
				continue
			}
			if words[1] == "copy" {
				continue // the name that backups for copies have in msdb
			}
			command, _, err := root.Find(words[1:])
			if err != nil || command == root {
				t.Errorf("%s: %q is no command", name, strings.Join(words[:2], " "))
				continue
			}
			commands++
			for _, word := range words[2:] {
				if word == "|" || word == "#" || word == "&&" {
					break
				}
				if !strings.HasPrefix(word, "--") {
					continue
				}
				if flags++; command.Flags().Lookup(flagName(word)) == nil {
					t.Errorf("%s: ds2 %s has no %s", name, command.Name(), word)
				}
			}
		}
	}
	if commands < 50 || flags < 200 {
		t.Errorf("found %d commands and %d flags", commands, flags)
	}
}

// flagName is the name in --name=value, as flags are declared.
func flagName(word string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
	return strings.ReplaceAll(strings.TrimRight(name, ".,:;…"), "_", "-")
}

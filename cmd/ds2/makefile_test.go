package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMakeTargets looks for each target that documents and the Makefile itself name.
func TestMakeTargets(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	rules := map[string]bool{}
	for _, rule := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllSubmatch(makefile, -1) {
		rules[string(rule[1])] = true
	}
	phony := regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindString(string(makefile))
	for _, target := range regexp.MustCompile(`[a-z-]+`).FindAllString(phony, -1) {
		assert.True(t, rules[target], ".PHONY names %s, and there is no rule", target)
	}
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	named := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile("(?m)(?:`|^    )make ([a-z-]+)").FindAllSubmatch(text, -1) {
			if named++; !rules[string(m[1])] {
				t.Errorf("%s: there is no make %s", filepath.Base(page), m[1])
			}
		}
	}
	assert.GreaterOrEqual(t, named, 10, "documents name")
}

package main

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMakeTargets looks for each target that documents and the Makefile itself name.
func TestMakeTargets(t *testing.T) {
	makefile := read(t, "../../Makefile")
	rules := map[string]bool{}
	for _, rule := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(makefile, -1) {
		rules[rule[1]] = true
	}
	phony := regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindString(makefile)
	for _, target := range regexp.MustCompile(`[a-z-]+`).FindAllString(phony, -1) {
		assert.True(t, rules[target], ".PHONY names %s, and there is no rule", target)
	}
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	named := 0
	for _, page := range append(pages, "../../README.md") {
		for _, m := range regexp.MustCompile("(?m)(?:`|^    )make ([a-z-]+)").FindAllStringSubmatch(read(t, page), -1) {
			named++
			assert.True(t, rules[m[1]], "%s: there is no make %s", filepath.Base(page), m[1])
		}
	}
	assert.GreaterOrEqual(t, named, 10, "documents name")
}

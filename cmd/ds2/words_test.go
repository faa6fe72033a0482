package main

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oldTurns are not how a database engineer says it: CPU, per order, valid runs, in flight, varies by, its own.
var oldTurns = regexp.MustCompile(`(?i)\b((any|no)body|so many|(of|on) (their|a) own|processors?|an order (a|than)|` +
	`reads an order|runs? (of \S+ )?that count|under way|holds? the truth|scatters?|told apart|made in blocks)\b`)

// TestWords reads the pages, but for the logs of measurements, and all texts of the programs.
func TestWords(t *testing.T) {
	refuse := func(where, text string) {
		for _, found := range oldTurns.FindAllString(text, -1) {
			t.Errorf("%s: %q in %.120q", where, found, text)
		}
	}
	for path, text := range documents(t) {
		if !strings.HasPrefix(path, "docs/evidence") {
			for line := range strings.Lines(text) {
				refuse(path, line)
			}
		}
	}
	allowed := strings.NewReplacer("neither a user postgres nor nobody", "", "_processor", "")
	require.NoError(t, fs.WalkDir(os.DirFS("../.."), ".", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || !strings.Contains(path, "cmd/") &&
			!strings.Contains(path, "internal/") {
			return err
		}
		text, err := os.ReadFile(filepath.Join("../..", path))
		assert.NoError(t, err)
		files := token.NewFileSet()
		var s scanner.Scanner
		s.Init(files.AddFile(path, -1, len(text)), text, nil, 0)
		for {
			pos, kind, literal := s.Scan()
			if kind == token.EOF {
				return nil
			}
			if kind == token.STRING && strings.Contains(literal, " ") && !strings.HasPrefix(literal, "`json:") {
				refuse(files.Position(pos).String(), allowed.Replace(literal))
			}
		}
	}))
}

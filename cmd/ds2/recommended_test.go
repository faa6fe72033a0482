package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shownTexts are the texts that a user can see, by where they stand: those of the programs, each
// whole, however many lines it is written in, and with -v they are listed, to be read. Besides the
// reports of examples, and what tests hold of reports and errors.
func shownTexts(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for path, source := range programs(t) {
		if strings.Contains(path, "test/") { // tests run other programs
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			expression, ok := n.(ast.Expr)
			if text := literalText(expression); ok && strings.Contains(text, " ") {
				all[files.Position(n.Pos()).String()] = text
				return false
			}
			_, tag := n.(*ast.Field)
			return !tag
		})
	}
	for _, pattern := range []string{
		"../../docs/examples/*", "../../docs/examples/afternoon/*/run-*",
	} {
		records, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, record := range records {
			if code, text, _ := execute(t, "report", "-o", "text", "--details", record); code == exitDone {
				all[record] = text
			}
		}
	}
	maps.Copy(all, filesOf(t, ".txt", "internal/report/testdata"))
	maps.Copy(all, filesOf(t, ".golden", "cmd/ds2/testdata"))
	maps.Copy(all, dataTables(t))
	delete(all, "internal/device/fio.tmpl") // which has the flags of fio
	return all
}

// literalText is the text of literals that are added up.
func literalText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return ""
		}
		return literalText(e.X) + literalText(e.Y)
	}
	return ""
}

// TestRecommendations looks up what texts, reports and pages tell to type: each flag is one of the
// command that it follows, or of any where none is named. TestCommandsOfDocuments runs
// those of pages.
func TestRecommendations(t *testing.T) {
	root := newRoot()
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpFlag()
	every := newFlagSet(new(experimentSetup).add)
	for _, c := range withThoseBelow(root) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if every.Lookup(f.Name) == nil {
				every.AddFlag(f)
			}
		})
	}
	texts := shownTexts(t)
	for path, text := range documents(t) {
		texts[path] = text
	}
	command := regexp.MustCompile(`\bds2 ([a-z]+)(?: (create|restore|drop)\b)?`)
	flag := regexp.MustCompile(`(?:^|[\s"'(` + "`" + `])--([a-z][a-z_-]+[a-z])`)
	others := []string{ // of other programs, and words that stand for flags
		"flag", "name", "quiet", "lc-all", "option", "all", "version", "force", "grace-period",
	}
	typed := 0
	for _, where := range slices.Sorted(maps.Keys(texts)) {
		if testing.Verbose() {
			fmt.Printf("%s\t%q\n", where, texts[where])
		}
		if strings.HasPrefix(where, "docs/evidence") || strings.Contains(where, "result/lift.go") {
			continue
		}
		text := strings.ReplaceAll(texts[where], "ds2 config ", "ds2 ")
		text = regexp.MustCompile(`(?m)^\$ .*$|unknown flag: \S+|ds2 snapshot +--target`).ReplaceAllString(text, "") // mistakes
		for sentence := range strings.SplitSeq(text, "\n") {
			found := command.FindAllStringSubmatchIndex(sentence, -1)
			for i, at := range found {
				end := len(sentence)
				if i+1 < len(found) {
					end = found[i+1][0]
				}
				said := sentence[at[0]:end]
				if stop := strings.IndexAny(said, ";|\t"); stop > 0 {
					said = said[:stop]
				}
				words := strings.Fields(said)[1:]
				cmd, _, err := root.Find(words)
				if err != nil || cmd == root {
					continue // of ds2 itself
				}
				for _, m := range flag.FindAllStringSubmatch(said, -1) {
					typed++
					known := cmd.Flags().Lookup(m[1]) != nil || cmd.InheritedFlags().Lookup(m[1]) != nil
					assert.True(t, known || slices.Contains(others, m[1]),
						"%s: %s has no --%s: %.200q", where, cmd.CommandPath(), m[1], said)
				}
			}
			if len(found) > 0 || strings.Contains(where, "localpg") || strings.HasPrefix(where, "docs/") {
				continue
			}
			for _, m := range flag.FindAllStringSubmatch(sentence, -1) {
				typed++
				assert.True(t, every.Lookup(m[1]) != nil || slices.Contains(others, m[1]),
					"%s: no command has --%s: %.200q", where, m[1], sentence)
			}
		}
	}
	assert.GreaterOrEqual(t, typed, 400, "flags")
}

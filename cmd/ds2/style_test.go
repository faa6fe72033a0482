package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAssignments holds each assignment to a line of its own. A swap stays, as does what takes the
// results of a call, the header of a statement, and an assignment that uses what it assigns.
func TestAssignments(t *testing.T) {
	list := exec.CommandContext(t.Context(), "git", "ls-files", "*.go")
	list.Dir = "../.."
	files, err := list.Output()
	require.NoError(t, err)

	for name := range strings.FieldsSeq(string(files)) {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "../../"+name, nil, 0)
		require.NoError(t, err)

		ast.Inspect(file, func(n ast.Node) bool {
			for _, statement := range statementsOf(n) {
				assignment, ok := statement.(*ast.AssignStmt)
				parallel := ok && len(assignment.Lhs) > 1 &&
					len(assignment.Lhs) == len(assignment.Rhs)
				if parallel && !usesItself(assignment) {
					t.Errorf("%s: several assignments on one line", set.Position(statement.Pos()))
				}
			}
			return true
		})
	}
}

// statementsOf are those of a block or a case, not the header of a statement.
func statementsOf(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	default:
		return nil
	}
}

// usesItself says whether a name on the left stands on the right, too, so that the order of the
// assignments may matter.
func usesItself(a *ast.AssignStmt) bool {
	assigned := map[string]bool{}
	for _, left := range a.Lhs {
		for name := range namesIn(left) {
			assigned[name] = true
		}
	}
	for _, right := range a.Rhs {
		for name := range namesIn(right) {
			if assigned[name] {
				return true
			}
		}
	}
	return false
}

func namesIn(n ast.Node) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			names[name.Name] = true
		}
		return true
	})
	return names
}

func TestUsesItself(t *testing.T) {
	for text, want := range map[string]bool{
		"a, b = b, a":       true,
		"a, b = 1, a":       true,
		"s.a, s.b = s.b, 1": true,
		"s.a, s.b = 1, 2":   false,
		"a, b = 1, 2":       false,
		"a, b := f(), g(c)": false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p; func f() { "+text+" }", 0)
		require.NoError(t, err)
		body := file.Decls[0].(*ast.FuncDecl).Body
		assert.Equal(t, want, usesItself(body.List[0].(*ast.AssignStmt)), text)
	}
}

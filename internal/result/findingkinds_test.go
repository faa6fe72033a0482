package result

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/monitor"
)

// TestKindsHaveRows: each kind that the code names has one row of the table and each row a kind, so
// that no finding is said by its name alone, or never made.
func TestKindsHaveRows(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "findingkinds.go", nil, 0)
	require.NoError(t, err)
	named := []FindingKind{
		monitor.MountsAssumed, monitor.DrivesUnknown, monitor.DevicesElsewhere,
		monitor.MayBurst, monitor.WithinBurst, monitor.MemoryHolds, monitor.Distorted,
	}
	for _, declared := range file.Decls {
		constants, ok := declared.(*ast.GenDecl)
		if !ok || constants.Tok != token.CONST {
			continue
		}
		for _, spec := range constants.Specs {
			if text, ok := spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit); ok {
				name, err := strconv.Unquote(text.Value)
				require.NoError(t, err)
				named = append(named, FindingKind(name))
			}
		}
	}
	var rows []FindingKind
	for _, row := range FindingKinds {
		rows = append(rows, row.Kind)
		assert.Contains(t, effects, row.Effect, row.Kind)
		assert.Contains(t, []Scope{OfRun, OfTarget, OfDrive, OfConfiguration}, row.Scope, row.Kind)
		assert.NotEmpty(t, row.Says, row.Kind)
	}
	assert.ElementsMatch(t, slices.Sorted(slices.Values(named)), rows)
}

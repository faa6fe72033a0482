package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/datatable"
)

// TestChartsAreOfColumns: each counter of the table of charts is a column that a record can have.
func TestChartsAreOfColumns(t *testing.T) {
	path := filepath.Join("..", "sampling", "columns.go")
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	var columns []string
	ast.Inspect(file, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
			column, err := strconv.Unquote(text.Value)
			require.NoError(t, err)
			columns = append(columns, column)
		}
		return true
	})
	table, err := os.ReadFile(filepath.Join("..", "sampling", "figures.tsv"))
	require.NoError(t, err)
	for _, figure := range datatable.Rows(string(table), 3) {
		columns = append(columns, figure[2])
	}
	scales := []string{"from-zero", "logarithmic", "near-data"}
	for i, row := range datatable.Rows(chartsTable, 5) {
		c := counterCharts[i]
		assert.NotEmpty(t, c.Text, c.ID)
		assert.Contains(t, scales, row[2], c.ID)
		assert.NotEmpty(t, c.counters, c.ID)
		assert.Subset(t, columns, c.counters, c.ID)
	}
}

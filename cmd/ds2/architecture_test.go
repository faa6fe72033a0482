package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestArchitecture holds the imports against docs/architecture.md: every room under internal is in
// its list, and imports run down its arrows only.
func TestArchitecture(t *testing.T) {
	_, arrows, _ := strings.Cut(read(t, "../../docs/architecture.md"), "\n## Arrows\n")
	line := map[string]int{} // of a room, from above
	for i, rooms := range regexp.MustCompile(`(?m)^    (.*)$`).FindAllStringSubmatch(arrows, -1) {
		for room := range strings.SplitSeq(rooms[1], ", ") {
			line[room] = i + 1
		}
	}
	// room is what the arrows call a package; a part of a room, such as an engine, may be unknown
	// to them.
	room := func(path string) (name string, known bool) {
		path = strings.TrimPrefix(strings.TrimPrefix(path, "ds2/"), "internal/")
		_, known = line[path]
		return path, known
	}

	list := exec.CommandContext(
		t.Context(),
		"go",
		"list",
		"-f",
		`{{.ImportPath}} {{join .Imports " "}} {{if eq .Name "oracletest"}}{{join .TestImports " "}}{{end}}`,
		"ds2/...",
	)
	out, err := list.Output()
	require.NoError(t, err)
	seen := map[string]bool{}
	for packageAndImports := range strings.Lines(string(out)) {
		paths := strings.Fields(packageAndImports)
		name, known := room(paths[0])
		seen[name] = true
		helper := strings.HasSuffix(name, "test") // storetest and promtest import what they test
		part := !strings.HasPrefix(paths[0], "ds2/internal/") || strings.Contains(name, "/")
		assert.True(
			t,
			known || helper || part,
			"internal/%s is missing in the arrows of docs/architecture.md",
			name,
		)
		if name == "oracletest" { // which a fault of what it judges must not reach
			assert.NotContains(
				t,
				packageAndImports,
				" ds2/",
				"%s imports what it is to judge",
				name,
			)
		}
		if !known {
			continue
		}
		for _, i := range paths[1:] {
			if paths[0] != "ds2/cmd/ds2" {
				assert.NotContains(
					t,
					i,
					"github.com/spf13/cobra",
					"%s imports cobra, which only cmd/ds2 knows",
					name,
				)
			}
			if below, known := room(i); known && line[below] <= line[name] {
				t.Errorf(
					"%s imports %s, which the arrows of docs/architecture.md do not have below it",
					name,
					below,
				)
			}
		}
	}
	for name := range line {
		assert.True(
			t,
			seen[name],
			"the arrows of docs/architecture.md name %s, which is no package",
			name,
		)
	}
}

// TestFigures holds the rule that only measure, conclude, compare, esrp, history and the workloads
// compute figures: nothing else calls measure's statistics or a library of them; no function of the
// rooms that show or judge figures is named like one; and report divides by nothing but units.
func TestFigures(t *testing.T) {
	statistics := []string{
		"Compare", "Correlation", "Differences", "Enough", "GeometricMean", "Median",
		"MeanCI95", "Slope", "Student",
	}
	names := "mean|median|average|quantile|percentile|percent|ratio|weighted|slope"
	named := regexp.MustCompile("(?i)^(" + names + ")s?(of|over)?$")
	elsewhere := regexp.MustCompile(`^internal/(measure|conclude|compare|esrp|history|workload/.*|.*test)$`)
	shows := regexp.MustCompile(`^(cmd/ds2|internal/(report|limit|sampling|live|metrics))$`)
	excused := map[string]string{
		"internal/device: MeanCI95":            "decides when flash is steady",
		"internal/device: Slope":               "as MeanCI95",
		"internal/runs: Slope":                 "decides when warm-up ends",
		"internal/limit: percentile":           "reads the name of a metric",
		"internal/limit: MeanCI95":             "judges a limit by the mean of the runs",
		"internal/limit: Student":              "as MeanCI95",
		"internal/report: Markdown":            "shares lines out",
		"internal/sampling: Mean":              "of a column, for conclude",
		"internal/sampling: Quantile":          "of a column, for conclude",
		"internal/sampling: ratio":             "a rate of two of the kernel's counters",
		"internal/sampling: mean":              "the latency by drive and role, weighted by I/Os",
		"internal/report: Digits":              "rounds a point of a chart",
		"internal/report: thinned":             "counts samples that share a point",
		"internal/report: Figures":             "places of rows",
		"internal/report: overlays":            "counts points of a chart",
		"internal/report: checkpointVerticals": "places of lines",
	}
	met := map[string]bool{}
	for path, text := range programs(t) {
		room := filepath.Dir(path)
		if elsewhere.MatchString(room) {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		function := ""
		wrong := func(at ast.Node, of, what string) {
			if key := room + ": " + of; excused[key] != "" {
				met[key] = true
			} else {
				t.Errorf(
					"%s %s: figures are computed in measure, conclude and compare",
					set.Position(at.Pos()),
					what,
				)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				if strings.Contains(n.Path.Value, "gonum") {
					wrong(n, "gonum", "imports "+n.Path.Value)
				}
			case *ast.FuncDecl:
				function = n.Name.Name
				if shows.MatchString(room) && named.MatchString(function) {
					wrong(n, function, "declares "+function)
				}
			case *ast.SelectorExpr:
				from, _ := n.X.(*ast.Ident)
				if from != nil && from.Name == "measure" &&
					slices.Contains(statistics, n.Sel.Name) {
					wrong(n, n.Sel.Name, "calls measure."+n.Sel.Name)
				}
			case *ast.BinaryExpr:
				_, number := n.Y.(*ast.BasicLit)
				if room == "internal/report" && n.Op == token.QUO && !number {
					wrong(n, function, "divides")
				}
			}
			return true
		})
	}
	for key := range excused {
		assert.True(t, met[key], "%s is excused and not there", key)
	}
}

// TestReturnsWhatIsAssigned: no return has a variable beside a call that fills it in by its
// address, as Go does not say which of the two comes first.
func TestReturnsWhatIsAssigned(t *testing.T) {
	root := func(e ast.Expr) string { // of "d" and "d.rows[0]": d
		for {
			switch of := e.(type) {
			case *ast.Ident:
				return of.Name
			case *ast.SelectorExpr:
				e = of.X
			case *ast.IndexExpr:
				e = of.X
			default:
				return ""
			}
		}
	}
	for path, text := range filesOf(t, ".go", "cmd", "internal", "datagen", "schema", "scripts") {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			results, _ := n.(*ast.ReturnStmt)
			if results == nil || len(results.Results) < 2 {
				return true
			}
			returned := map[string]bool{}
			for _, result := range results.Results {
				returned[root(result)] = true
			}
			ast.Inspect(results, func(n ast.Node) bool {
				if _, later := n.(*ast.FuncLit); later {
					return false
				}
				if address, ok := n.(*ast.UnaryExpr); ok && address.Op == token.AND {
					filled := root(address.X)
					assert.False(
						t,
						filled != "" && returned[filled],
						"%s: assign first",
						set.Position(n.Pos()),
					)
				}
				return true
			})
			return true
		})
	}
}

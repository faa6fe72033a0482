package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestArchitecture holds the imports against docs/architecture.md: every room under internal is in its list, and
// imports run down its arrows only.
func TestArchitecture(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	require.NoError(t, err)
	_, arrows, _ := strings.Cut(string(page), "\n## Arrows\n")
	line := map[string]int{} // of a room, from above
	for i, rooms := range regexp.MustCompile(`(?m)^    (.*)$`).FindAllStringSubmatch(arrows, -1) {
		for room := range strings.SplitSeq(rooms[1], ", ") {
			line[room] = i + 1
		}
	}
	// room is what the arrows call a package; a part of a room, such as an engine, may be unknown to them.
	room := func(path string) (name string, known bool) {
		path = strings.TrimPrefix(strings.TrimPrefix(path, "ds2/"), "internal/")
		_, known = line[path]
		return path, known
	}

	list := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "ds2/...")
	out, err := list.Output()
	require.NoError(t, err)
	seen := map[string]bool{}
	for packageAndImports := range strings.Lines(string(out)) {
		paths := strings.Fields(packageAndImports)
		name, known := room(paths[0])
		seen[name] = true
		helper := strings.HasSuffix(name, "test") // storetest and promtest import what they test
		part := !strings.HasPrefix(paths[0], "ds2/internal/") || strings.Contains(name, "/")
		assert.True(t, known || helper || part, "internal/%s is missing in the arrows of docs/architecture.md", name)
		if !known {
			continue
		}
		for _, i := range paths[1:] {
			if paths[0] != "ds2/cmd/ds2" {
				assert.NotContains(t, i, "github.com/spf13/cobra", "%s imports cobra, which only cmd/ds2 knows", name)
			}
			if below, known := room(i); known && line[below] <= line[name] {
				t.Errorf("%s imports %s, which the arrows of docs/architecture.md do not have below it", name, below)
			}
		}
	}
	for name := range line {
		assert.True(t, seen[name], "the arrows of docs/architecture.md name %s, which is no package", name)
	}
}

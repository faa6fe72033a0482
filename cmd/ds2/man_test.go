package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/texttest"
)

// manVariable names a directory for the manual pages, of which a release takes them.
const manVariable = "DS2_TEST_MAN"

// TestMan writes the manual pages, from the text that --help shows: there is one for each command,
// which man reads without a complaint.
func TestMan(t *testing.T) {
	dir := os.Getenv(manVariable)
	if dir != "" {
		writeManual(t, dir)
		return
	}
	dir = t.TempDir()
	t.Setenv("SOURCE_DATE_EPOCH", "1790000000")
	writeManual(t, dir)
	for _, cmd := range newRoot().Commands() {
		texttest.Contains(
			t,
			read(t, filepath.Join(dir, "ds2-"+cmd.Name()+".1")),
			`"Sep 2026"`,
			"SEE ALSO",
		)
	}
	assert.NotContains(t, read(t, filepath.Join(dir, "ds2-load.1")), `\fP=the number`)
	if _, err := exec.LookPath("man"); err != nil {
		t.Skip("man is not installed, so how it shows the pages was not looked at")
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for _, page := range pages {
		man := exec.Command("man", "--warnings", "-E", "UTF-8", "-l", page)
		man.Env = append(os.Environ(), "MANWIDTH=120", "LC_ALL=C.UTF-8")
		var complaints strings.Builder
		man.Stderr = &complaints
		text, err := man.Output()
		require.NoError(t, err, page)
		assert.Empty(t, complaints.String(), page)
		assert.GreaterOrEqual(t, len(text), 300, page)
		if strings.HasSuffix(page, "ds2-experiment.1") {
			assert.Contains(
				t,
				string(text),
				"\n         factors         flags with a list of values;",
			)
		}
	}
}

// writeManual writes a page for each command. The variable SOURCE_DATE_EPOCH sets their date.
func writeManual(t *testing.T, dir string) {
	t.Helper()
	root := newRoot() // a copy, whose texts are made Markdown
	root.InitDefaultCompletionCmd()
	root.DisableAutoGenTag = true
	for _, cmd := range withThoseBelow(root) { // package doc takes their texts for Markdown
		cmd.Long = markdown(cmd.Long)
		cmd.Short = escaped(cmd.Short)
		cmd.Use = escaped(cmd.Use)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			name, usage := pflag.UnquoteUsage(f)
			f.Usage = escaped(usage)
			said := strings.Contains(f.DefValue, " ") // in words
			if said {
				f.Usage += escaped(" (default: " + f.DefValue + ")")
			}
			if said || name != "string" && (f.DefValue == "" || f.DefValue == "[]") {
				f.DefValue = name
			}
		})
	}
	header := doc.GenManHeader{Section: "1", Source: "ds2 " + kitVersion(), Manual: "ds2 manual"}
	options := doc.GenManTreeOptions{Header: &header, Path: dir, CommandSeparator: "-"}
	require.NoError(t, doc.GenManTreeFromOpts(root, options))
}

// meaningful are the characters that mean something to Markdown in running text.
var meaningful = regexp.MustCompile("[\\\\`*_<>\\[\\]|~]")

func escaped(text string) string { return meaningful.ReplaceAllString(text, `\$0`) }

// markdown is a text of the help as Markdown: what is indented stays as it stands.
func markdown(text string) string {
	var lines []string
	literal := false
	for line := range strings.SplitSeq(text, "\n") {
		indented := strings.HasPrefix(line, "  ")
		if indented != literal && (indented || line != "") {
			lines = append(lines, "```")
			literal = indented
		}
		if !literal {
			line = escaped(line)
		}
		lines = append(lines, line)
	}
	if literal {
		lines = append(lines, "```")
	}
	return strings.Join(lines, "\n")
}

// TestDocumentsOfPackages: each link of the documents that a package has leads to a file in it.
func TestDocumentsOfPackages(t *testing.T) {
	dir := t.TempDir()
	out, err := exec.Command("../../scripts/release/documents", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	links := 0
	err = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		for _, m := range linkOfPage.FindAllStringSubmatch(read(t, path), -1) {
			if file, _, _ := strings.Cut(m[1], "#"); file != "" && !strings.Contains(file, ":") {
				links++
				_, err := os.Stat(filepath.Join(filepath.Dir(path), file))
				assert.NoError(t, err, "%s: %s", path, m[1])
			}
		}
		return nil
	})
	require.NoError(t, err)
	assert.GreaterOrEqual(t, links, 100, "links")
}

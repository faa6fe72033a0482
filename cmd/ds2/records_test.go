package main

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/report"
	"ds2/internal/result"
)

// oldRecords holds a record of each kind of a schema by the ds2 that wrote it. They are never
// made again: they stand for those that users keep.
const oldRecords = "../../testdata/records"

// TestOldRecords reads records of every schema that is promised to be read, by golden text. Their
// summaries have the schema that their directory names, so that none is a copy of today's.
func TestOldRecords(t *testing.T) {
	for schema := result.OldestSchema; schema <= result.Schema; schema++ {
		dir := filepath.Join(oldRecords, strconv.Itoa(schema))
		if _, err := os.Stat(dir); err != nil {
			require.Equal(t, result.Schema, schema, "no records of schema %d are kept", schema)
			continue
		}
		for name, args := range map[string]string{
			"run":        "report --output text --details DIR/run",
			"bench":      "report --output text DIR/experiment/hdd",
			"experiment": "report --output text DIR/experiment",
			"search":     "report --output text DIR/search",
			"compare":    "compare DIR/experiment/hdd DIR/experiment/ssd",
			"again":      "report --output text --window 20s-50s DIR/run",
			"device":     "report --output text DIR/device.json",
		} {
			t.Run(name, func(t *testing.T) {
				got := must(t, strings.Fields(strings.ReplaceAll(args, "DIR", dir))...)
				path := filepath.Join(dir, name+".txt")
				if *update {
					require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
				}
				assert.Equal(t, read(t, path), got)
			})
		}
		for _, record := range strings.Fields("run experiment experiment/hdd search") {
			var head result.Head
			text := read(t, filepath.Join(dir, record, result.SummaryFile))
			require.NoError(t, json.Unmarshal([]byte(text), &head))
			assert.Equal(t, schema, head.Schema, record)
		}
	}
}

// TestNewerRecord: a record of a later ds2 is refused with both versions named.
func TestNewerRecord(t *testing.T) {
	dir := t.TempDir()
	for _, summary := range []string{
		`{"schema":99,"kind":"run","spec":{"kit_version":"7.1.0"}}`,
		`{"schema":99,"kind":"experiment","kit_version":"7.1.0"}`,
		`{"schema":99,"kind":"of a kind to come","kit_version":"7.1.0"}`,
	} {
		path := filepath.Join(dir, result.SummaryFile)
		require.NoError(t, os.WriteFile(path, []byte(summary), 0o600))
		for _, command := range []string{"report", "compare"} {
			_, stderr := ends(t, exitFailed, command, dir)
			assert.Contains(t, stderr, "ds2 7.1.0 wrote "+dir+" in schema 99")
			assert.Contains(t, stderr, "this is ds2 "+kitVersion())
		}
	}
}

// TestArchives: a record in a zip archive reports and compares as its directory does, wherever it
// lies.
func TestArchives(t *testing.T) {
	if _, err := exec.LookPath("zip"); err != nil {
		t.Skip("there is no zip")
	}
	records, err := filepath.Abs(filepath.Join(oldRecords, "3"))
	require.NoError(t, err)
	dir := t.TempDir()
	pack := func(name string) string {
		archive := filepath.Join(dir, filepath.Base(name)+".zip")
		zip := exec.Command("zip", "-qr", archive, filepath.Base(name))
		zip.Dir = filepath.Dir(filepath.Join(records, name))
		require.NoError(t, zip.Run())
		return archive
	}
	for _, name := range []string{"run", "experiment", "experiment/hdd", "search"} {
		want := must(t, "report", "--output", "text", "--details", filepath.Join(records, name))
		got := must(t, "report", "--output", "text", "--details", pack(name))
		assert.Equal(t, want, got, name)
	}
	want := must(t, "compare", "a="+records+"/experiment/hdd", "b="+records+"/experiment/ssd")
	got := must(t, "compare", "a="+pack("experiment/hdd"), "b="+pack("experiment/ssd"))
	assert.Equal(t, want, got)
	must(t, "report", pack("run"))
	assert.FileExists(t, filepath.Join(dir, "run.html"))
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "ds2-records-*"))
	require.NoError(t, err)
	assert.Empty(t, left, "what was unpacked is removed")
	_, stderr := ends(t, exitFailed, "report", textFile(t, "run.zip", "no zip"))
	assert.Contains(t, stderr, "run.zip is no whole zip archive")
}

// TestReportIntoLink writes a report into the file to which a link leads, and leaves the link.
func TestReportIntoLink(t *testing.T) {
	page := textFile(t, "page.html", "")
	link := filepath.Join(t.TempDir(), "link.html")
	require.NoError(t, os.Symlink(page, link))
	must(t, "report", "--out", link, filepath.Join(oldRecords, "3", "run"))
	assert.Contains(t, read(t, page), "<!DOCTYPE html>")
	leads, err := os.Readlink(link)
	require.NoError(t, err)
	assert.Equal(t, page, leads)
}

// TestReportBesideRecord replaces what has the page's name in the record of others, and does not
// follow where it leads.
func TestReportBesideRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(oldRecords, "3", "run"))))
	victim := textFile(t, "victim", "mine")
	page := filepath.Join(dir, reportFile)
	require.NoError(t, os.Symlink(victim, page))
	must(t, "report", dir)
	assert.Equal(t, "mine", read(t, victim))
	info, err := os.Lstat(page)
	require.NoError(t, err)
	assert.True(t, info.Mode().IsRegular())
}

// TestEmbed: a page brings its record along, from which the same report can be made.
func TestEmbed(t *testing.T) {
	dir := filepath.Join(oldRecords, "3", "run")
	page := filepath.Join(t.TempDir(), "page.html")
	must(t, "report", "--embed", "--out", page, dir)
	link := regexp.MustCompile(`download="(.*?)" href="data:application/zip;base64,(.*?)"`)
	found := link.FindStringSubmatch(read(t, page))
	require.NotNil(t, found)
	assert.Equal(t, "run.zip", found[1])
	archive, err := base64.StdEncoding.DecodeString(html.UnescapeString(found[2]))
	require.NoError(t, err)
	want := must(t, "report", "--output", "text", "--details", dir)
	packed := textFile(t, found[1], string(archive))
	assert.Equal(t, want, must(t, "report", "--output", "text", "--details", packed))
	must(t, "report", packed, "--embed")

	fails(t, exitUsage, "--embed: ", "report", "--embed", "--output", "text", dir)
	large := filepath.Join(t.TempDir(), "large")
	require.NoError(t, os.CopyFS(large, os.DirFS(dir)))
	noise := make([]byte, report.MostEmbedded)
	rand.NewChaCha8([32]byte{}).Read(noise)
	require.NoError(t, os.WriteFile(filepath.Join(large, "notes"), noise, 0o600))
	fails(t, exitUsage, "hand the record on by itself", "report", "--embed", large)
}

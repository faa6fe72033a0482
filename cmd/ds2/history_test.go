package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/compare"
	"ds2/internal/history"
	"ds2/internal/nightly"
	"ds2/internal/result"
	"ds2/internal/texttest"
)

// dayOf writes a bench of the n-th day, changed in what it was to be.
func dayOf(t *testing.T, dir string, n int, opm float64, change func(*result.Bench)) string {
	t.Helper()
	path := filepath.Join(dir, fmt.Sprintf("day-%02d", n))
	benchOf(t, path, 300, 400, nil, opm, opm*1.01, opm*.99)
	b, err := result.ReadSummary[result.Bench](path)
	require.NoError(t, err)
	b.Start = time.Date(2026, 1, n, 4, 0, 0, 0, time.UTC)
	b.RunID = fmt.Sprint(n)
	b.Engine = "postgres"
	b.KitVersion = "0.1.0"
	if change != nil {
		change(&b)
	}
	require.NoError(t, result.SaveSummary(path, b))
	return path
}

// yearsOf are twelve days that vary by 1 or 2 %, in a directory.
func yearsOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i, by := range []float64{0, 150, -120, 80, -200, 30, 110, -90, -40, 170, -60, 20} {
		dayOf(t, dir, i+1, 10_000+by, nil)
	}
	return dir
}

func TestHistory(t *testing.T) {
	dir := yearsOf(t)
	for n := 20; n < 24; n++ {
		dayOf(t, dir, n, 9_000+50*float64(n%2), func(b *result.Bench) { b.KitVersion = "0.2.0" })
	}
	dayOf(t, filepath.Join(dir, "others"), 1, 20_000, func(b *result.Bench) { b.Threads = 64 })
	newer := filepath.Join(dir, "newer")
	require.NoError(t, os.Mkdir(newer, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(newer, result.SummaryFile),
		[]byte(`{"schema":99,"kind":"run","spec":{"kit_version":"7.1.0"}}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cut.zip"), []byte("PK\x03\x04"), 0o600))

	texttest.Contains(t, texttest.Flat(must(t, "history", "--details", dir)),
		"OPM changed 1 time in 16 days, at last on 2026-01-20 by -9.",
		"new on that day: kit version 0.1.0 → 0.2.0",
		"2026-01-12 10,020",
		"History: postgres, size W, 64 users",
		"apart from the first history: threads 32 and 64",
		"ds2 7.1.0 wrote", "this ds2 reads schemas 3 to 4",
		"cut.zip is no whole zip archive")
	all := decoded[[]history.History](t, "history", "-o", "json", dir)
	require.Len(t, all, 2)
	require.Len(t, all[0].Changes, 1)
	assert.Less(t, *all[0].Changes[0].P, .03)
	assert.NotNil(t, all[0].Days[3].CI95, "a day has its own interval")

	page := filepath.Join(t.TempDir(), "history.html")
	must(t, "history", "-o", "html", "--out", page, dir)
	texttest.Contains(t, read(t, page), "days since change 1", `"name":"95 %"`)

	_, stderr := ends(t, exitUsage, "history", t.TempDir())
	assert.Contains(t, stderr, "there is no record")
	_, stderr = ends(t, exitFailed, "history", newer)
	texttest.Contains(t, stderr, "ds2 7.1.0 wrote", "this is ds2 "+kitVersion())
	fails(t, exitUsage, "there is no record", "history", filepath.Join(dir, "nowhere"))
}

// TestGateAgainstHistory has the exit code of a gate tell what the days before say of a new one.
func TestGateAgainstHistory(t *testing.T) {
	dir := yearsOf(t)
	new := t.TempDir()
	gate := func(exit, n int, opm float64, change func(*result.Bench)) string {
		path := dayOf(t, new, n, opm, change)
		code, stdout, stderr := execute(t, "compare", "--history", dir, path,
			"--fail-if", "opm < -5 %")
		assert.Equal(t, exit, code, "%v: %s%s", opm, stdout, stderr)
		return texttest.Flat(stdout)
	}
	assert.Contains(t, gate(exitDone, 20, 10_050, nil),
		"No difference found between day-20 and history")
	assert.Contains(t, gate(exitVerdict, 21, 8_000, nil), "fewer")
	assert.Contains(t, gate(exitUnknown, 22, 9_600, nil), "gate cannot tell")
	assert.Contains(t, gate(exitUnknown, 23, 10_000, func(b *result.Bench) { b.Threads = 64 }),
		"12 days with threads 32 and 64")
	gate(exitUnknown, 2, 8_000, nil) // one day before it

	path := dayOf(t, dir, 25, 10_000, nil) // of the history itself
	c := decoded[compare.Comparison](t, "compare", "-o", "json", "--history", dir, path)
	assert.InDelta(t, 0, c.Differences[0].Percent, 1)
	fails(t, exitUsage, "--history: name one bench or run", "compare", "--history", dir, path,
		filepath.Join(new, "day-20"))
	fails(t, exitUsage, "--history: ", "compare", "--history", t.TempDir(), path)
}

// TestMarkdown: a verdict, a table and findings for a comment, of names that would be more there.
func TestMarkdown(t *testing.T) {
	dir := yearsOf(t)
	other := dayOf(t, t.TempDir(), 20, 8_000, nil)
	records := filepath.Join(oldRecords, "3")
	for _, args := range [][]string{
		{"report", "--out", "-", filepath.Join(records, "run")},
		{"report", "--out", "-", filepath.Join(records, "experiment")},
		{"report", "--out", "-", filepath.Join(records, "search")},
		{"history", dir, records},
		{"compare", filepath.Join(records, "experiment")},
		{"compare", "<b>@all|_x_=" + filepath.Join(dir, "day-01"), other},
	} {
		text := must(t, append(args, "--output", "markdown")...)
		lines := strings.Split(text, "\n")
		assert.LessOrEqual(t, len(lines)-1, 60, args)
		assert.True(t, strings.HasPrefix(text, "### "), text)
		texttest.Contains(t, text, "\n**", "\n| --- |", "\n- ")
		assert.NotRegexp(t, `(^|[^\\])[<>]`, text, "HTML")
		assert.NotContains(t, text, "@all")
	}
}

// TestHistoryPage types the commands of the page on keeping records, as they stand there.
func TestHistoryPage(t *testing.T) {
	nightly.Long(t, "makes twelve runs of seconds")
	t.Parallel()
	program, err := exec.LookPath("ds2") // of TestMain
	require.NoError(t, err)
	top, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
	require.NoError(t, os.Symlink(program, filepath.Join(dir, "bin", "ds2")))
	require.NoError(t, os.Symlink(filepath.Join(top, "scripts"), filepath.Join(dir, "scripts")))
	page := read(t, "../../docs/howto/history.md")
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(page, -1)
	require.Len(t, blocks, 3)
	script := "set -eu\n"
	for _, block := range blocks {
		script += block[1]
	}
	sh := exec.Command("sh", "-c", script)
	sh.Dir = dir
	sh.Env = append(os.Environ(), "TARGET="+loaded(t),
		"FLAGS=--threads 4 --ramp-rate 100 --warmup-time 1s --run-time 3s --verify none")
	said, err := sh.CombinedOutput()
	require.NoError(t, err, string(said))
	texttest.Contains(t, string(said), "archive: array-a.zip", "archive/array-a.html",
		"History: postgres, size 1MB, 4 users", "apart from the first history: ",
		"Against history", "history.html", "comment.md")
	// Days of 3 s may drift or change beside other tests: those that drift do not count, but are
	// days still.
	assert.Regexp(t, `(No change of OPM|OPM changed \d+ times?) in \d+ days|`+
		`Cannot tell whether OPM changed: [2-9] days`, string(said))
	days := read(t, filepath.Join(dir, "history.md"))
	assert.Contains(t, days, "| day | OPM |")
	records, err := os.ReadDir(filepath.Join(dir, "archive", "days"))
	require.NoError(t, err)
	assert.Len(t, records, 10)
	assert.FileExists(t, filepath.Join(dir, "archive", "array-a.html"))
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/result"
)

// words are those of a command line, made as by fmt.Sprintf; what stands in quotes is one.
func words(line string, values ...any) (all []string) {
	for _, m := range word.FindAllStringSubmatch(fmt.Sprintf(line, values...), -1) {
		all = append(all, m[1]+m[2]+m[3])
	}
	return all
}

var word = regexp.MustCompile(`'([^']*)'|"([^"]*)"|(\S+)`)

// quick is a run of two users who begin at once, with more words, which may say otherwise.
func quick(command, target, more string, values ...any) []string {
	const flags = "%s --target %s --threads 2 --ramp-rate 100 --warmup-time 0 --metrics-addr ''"
	return append(words(flags, command, target), words(more, values...)...)
}

// noPauses are the words of a bench, and noPausesYAML the lines of an experiment, that does nothing
// between its runs.
const (
	noPauses     = " --restore none --settle 0 --idle 0 --cooldown 0"
	noPausesYAML = "practice: 0\nrestore: none\nsettle: 0\nidle: 0\ncooldown: 0\nwarmup-time: 0\nramp-rate: 100\n" +
		"metrics-addr: ''\nthink-time: 20ms\n"
)

// execute runs the command line and returns its exit code and output.
func execute(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), args, &out, &err)
	checkJSON(t, args, out.String())
	return code, out.String(), err.String()
}

// ends runs a command line that has to end with an exit code, and returns what it prints.
func ends(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := execute(t, args...)
	require.Equal(t, want, code, "ds2 %s\n%s\n%s", redact(strings.Join(args, " ")), stdout, stderr)
	return stdout, stderr
}

// must runs a command line that has to come to a good end, and returns what it prints.
func must(t *testing.T, args ...string) (stdout string) {
	t.Helper()
	stdout, _ = ends(t, exitDone, args...)
	return stdout
}

// decoded is the JSON that a command line that has to come to a good end prints.
func decoded[T any](t *testing.T, args ...string) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(must(t, args...)), &v))
	return v
}

// fails runs a command line that has to end with an exit code and an error that holds a text.
func fails(t *testing.T, want int, text string, args ...string) {
	t.Helper()
	code, stdout, stderr := execute(t, args...)
	assert.True(
		t,
		code == want && strings.Contains(stderr, text),
		"ds2 %s: exit %d, want %d and %q\n%s\n%s",
		redact(strings.Join(args, " ")),
		code,
		want,
		text,
		stdout,
		stderr,
	)
}

// recordOf reads the record of a run.
func recordOf(t *testing.T, dir string) *result.Record {
	t.Helper()
	record, err := result.Read(dir)
	require.NoError(t, err)
	return record
}

// textFile writes a file of some name.
func textFile(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// read is the text of a file.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// await waits until done is true.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(20 * time.Millisecond) {
		require.False(t, time.Now().After(deadline), "waited in vain for %s", what)
	}
}

// origin is loaded once, by the first test that asks.
var origin sync.Once

// loaded is a database of the test's own that holds DS2's dataset of 1 MB.
func loaded(t *testing.T) (target string) {
	t.Helper()
	origin.Do(func() {
		must(t, "load", "--target", pgtest.Server(t).URL("origin"), "--size", "1MB", "--quiet")
	})
	return pgtest.Copy(t, "origin")
}

package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write golden files anew")

// TestMistakes holds what ds2 says to the commonest mistakes: testdata/mistakes.golden has a
// command line, its exit code and what it printed in each block. With -update the command lines of
// the file are run, and the rest of it is written anew.
func TestMistakes(t *testing.T) {
	golden, err := filepath.Abs("testdata/mistakes.golden")
	require.NoError(t, err)
	want := read(t, golden)
	device := read(t, "../../docs/examples/device.json")
	record := read(t, "../../docs/examples/demo/summary.json")
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"full/file.txt": "something",
		"old.yaml": "configurations:\n  a:\n    target: postgres://db1/ds2\n" +
			"  b:\n    target: postgres://db2/ds2\n    thread: 5\n",
		"reversed.yaml": "runs: 9..5\nconfigurations:\n  a: {target: postgres://db1/ds2}\n",
		"bom.yaml": "\ufeffconfigurations:\n  a: {target: postgres://db1/ds2}\n" +
			"  b: {target: postgres://db2/ds2, thread: 5}\n",
		"record/summary.json": record,
		"runs.yaml":           "runs: many\nconfigurations:\n  a: {target: postgres://db1/ds2}\n",
		"tabs.yaml":           "configurations:\n\ta: 1\n",
		"empty.yaml":          "",
		"secret.yaml":         "configurations:\n  a: {target: \"postgres://ds2:${NO_SUCH_VARIABLE}@db1/ds2\"}\n",
		"zero.yaml":           "configurations:\n  a: {target: \"postgres://ds2:${file:zero}@db1/ds2\"}\n",
		"dvdstore.cfg":        "target=localhost\nn_threads=many\n",
		"unknown.cfg":         "n_users=5\n",
		"meter.csv":           "no time,no watts\n",
		"words.txt":           "one\n",
		"no-record/x.md":      "nothing",
		"held/prod.csv":       "",
		"dev.json":            device,
		"old.key": "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n" +
			"DEK-Info: AES-256-CBC,00\n\nAA==\n-----END RSA PRIVATE KEY-----\n",
		"new.key": "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	require.NoError(t, os.Symlink("/dev/zero", "zero"))
	made, err := filepath.Glob("*")
	require.NoError(t, err)
	t.Setenv("UP", "postgres://ds2:secret@127.0.0.1:1/ds2") // nothing listens there
	var got strings.Builder
	lines := regexp.MustCompile(`(?m)^\$ (.*)$`).FindAllStringSubmatch(want, -1)
	for _, line := range lines {
		words := words("%s", line[1])
		for i, w := range words {
			words[i] = os.ExpandEnv(w)
		}
		name, value, variable := strings.Cut(words[0], "=")
		if variable {
			os.Setenv(name, value)
			words = words[1:]
		}
		code, stdout, stderr := execute(t, words[1:]...)
		if variable {
			os.Unsetenv(name)
		}
		block := fmt.Sprintf("$ %s\n%s%s[%d]\n\n", line[1], stdout, stderr, code)
		got.WriteString(block)
		assert.True(t, *update || strings.Contains(want, block),
			"now:\n%s(go test ./cmd/ds2 -run '^TestMistakes$' -update writes the file anew)", block)
		assert.True(t, code != exitDone, "%s: no mistake", line[1])
		assert.True(t, strings.Count(stderr, "\n") <= 3 && len(stderr) <= 420,
			"%s: the error is long: %s", line[1], stderr)
	}
	assert.GreaterOrEqual(t, len(lines), 150, "mistakes")
	left, err := filepath.Glob("*")
	require.NoError(t, err)
	assert.Equal(t, made, left, "what a mistake leaves behind")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
		return
	}
	assert.Equal(
		t,
		len(want),
		got.Len(),
		"the golden file has more than the blocks of its command lines",
	)
}

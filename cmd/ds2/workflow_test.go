package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/nightly"
)

// TestWorkflow has the commands of the workflow for others' repositories compare two equal
// databases, in shorter runs.
func TestWorkflow(t *testing.T) {
	nightly.Long(t, "makes six runs")
	dir := t.TempDir()
	workflow := read(t, "../../scripts/ci/benchmark.yml")
	experiment := read(t, "../../scripts/ci/experiment.yaml")
	for key, value := range map[string]string{
		"threads": "2", "settle": "0s", "warmup-time": "1s", "run-time": "2s", "runs": "2",
	} {
		line := regexp.MustCompile("(?m)^" + key + ": .*$")
		require.Regexp(t, line, experiment)
		experiment = line.ReplaceAllString(experiment, key+": "+value)
	}
	file := filepath.Join(dir, "change", "benchmark", "experiment.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(experiment), 0o600))
	t.Setenv("BASE", loaded(t))
	t.Setenv("CHANGE", loaded(t))
	t.Chdir(dir)
	commands := regexp.MustCompile(`(?m)\bds2 ((?:experiment|compare) .*?)(?: \|\|.*)?$`)
	for _, found := range commands.FindAllStringSubmatch(workflow, -1) {
		line := strings.ReplaceAll(found[1], "'opm < -5 %'", "opm<-5%")
		code, stdout, stderr := execute(t, strings.Fields(line)...)
		assert.Contains(t, []int{exitDone, exitUnknown}, code, "%s: %s%s", line, stdout, stderr)
	}
	text := read(t, "comment.md")
	assert.Contains(t, text, "| geometric mean | base | change |")
	assert.FileExists(t, filepath.Join(dir, "results", "summary.json"))
}

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// TestExperimentSchema holds the examples against the schema of an experiment's file, and what the
// reader of such a file refuses.
func TestExperimentSchema(t *testing.T) {
	text := must(t, "init", "--schema")
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("experiment.json", value))
	schema := compiler.MustCompile("experiment.json")
	validate := func(text string) error {
		var file any
		require.NoError(t, yaml.Unmarshal([]byte(text), &file), text)
		return schema.Validate(file)
	}
	t.Setenv("PASSWORD_DISKS", "x")
	t.Setenv("PASSWORD_SSD", "x")
	examples, err := filepath.Glob("../../docs/examples/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, examples)
	for _, example := range examples {
		assert.NoError(t, validate(read(t, example)), example)
	}
	assert.NoError(t, validate(must(t, "init")), "ds2 init")
	command, _, err := newRoot().Find([]string{"experiment"})
	require.NoError(t, err)
	_, inHelp, _ := strings.Cut(command.Example, "arrays.yaml:\n")
	assert.NoError(t, validate(inHelp), "the help of ds2 experiment")
	page := read(t, "../../docs/howto/compare.md")
	_, onPage, _ := strings.Cut(page, "## Experiments\n")
	onPage, _, _ = strings.Cut(onPage, "\n- **Keys**")
	assert.NoError(t, validate(onPage), "docs/howto/compare.md")

	for _, wrong := range []string{
		"run-tine: 20m", "order: sideways", "factors: {threads: 8}", "out: x", "target: [[x]]",
		"configurations: {a: {run-tine: 20m}}", "configurations: {a: {runs: 5}}",
	} {
		assert.Error(t, validate(wrong), wrong)
		_, err := parseExperiment(t.Context(), "x", []byte(wrong+"\n"))
		assert.Error(t, err, "the reader refuses it too: %s", wrong)
	}
}

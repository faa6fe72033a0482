package main

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	reflected "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/compare"
	"ds2/internal/measure"
	"ds2/internal/nightly"
	"ds2/internal/result"
)

var updateSchema = flag.Bool(
	"update-schema",
	false,
	"write the JSON Schema of the commands' output again",
)

// schemaFile is the published description of what commands write as JSON, in the version of the
// record.
const schemaFile = "../../docs/schema/ds2-4.schema.json"

// outputs are the types of what each command writes by --output json.
var outputs = map[string]any{
	"run":          result.Summary{},     // drive, demo; summary.json
	"runs":         []result.Summary{},   // report
	"bench":        result.Bench{},       // bench
	"experiment":   compare.Experiment{}, // experiment
	"search":       result.Search{},      // tune
	"comparison":   compare.Comparison{}, // compare
	"verification": verification{},       // verify
	"sizes":        []sizeLine{},         // sizes
	"fit":          fitLine{},            // sizes --capacity
	"device":       result.Device{},      // device
}

// commandOutputs names the outputs that a command may write.
var commandOutputs = map[string][]string{
	"drive": {
		"run",
	},
	"demo":       {"run"},
	"bench":      {"bench"},
	"experiment": {"experiment"},
	"tune":       {"search"},
	"compare":    {"comparison"},
	"report":     {"runs", "bench", "experiment", "search"},
	"verify":     {"verification"},
	"sizes":      {"sizes", "fit"},
	"device":     {"device"},
}

// publishedSchema makes the schema from the types that are written.
func publishedSchema(t *testing.T) []byte {
	t.Helper()
	all := reflected.Definitions{}
	for name, output := range outputs {
		r := &reflected.Reflector{
			AllowAdditionalProperties: true, // a later ds2 may write more
			Anonymous:                 true,
			Mapper: func(t reflect.Type) *reflected.Schema {
				switch t {
				case reflect.TypeFor[measure.Change]():
					p := reflected.NewProperties()
					names := []string{"pct", "low_pct", "high_pct", "p"}
					for _, name := range names {
						p.Set(name, &reflected.Schema{Type: "number"})
					}
					return &reflected.Schema{Type: "object", Properties: p, Required: names}
				case reflect.TypeFor[result.Duration](): // seconds
					return &reflected.Schema{Type: "number"}
				case reflect.TypeFor[json.RawMessage](): // whatever the workload keeps
					return &reflected.Schema{Type: "object"}
				}
				return nil
			},
			Namer: func(t reflect.Type) string {
				if t.Name() == "" { // such as a list: described where it stands
					return ""
				}
				return strings.Replace(t.String(), "main.", "ds2.", 1)
			},
		}
		schema := r.Reflect(output)
		schema.Version = ""
		for definition, s := range schema.Definitions {
			all[definition] = s
		}
		schema.Definitions = nil
		all[name] = schema
	}
	for _, w := range workloads() { // whose own counts stand among the others
		for _, c := range w.Counts() {
			all["measure.Counts"].Properties.Set(c, &reflected.Schema{Type: "integer"})
		}
	}
	// Of an embedded pointer the library takes all fields as required, though nil leaves them out.
	evidence := all["result.Evidence"]
	evidence.Required = slices.DeleteFunc(evidence.Required, func(name string) bool {
		return strings.HasPrefix(name, "sessions.")
	})
	text, err := json.Marshal(&reflected.Schema{
		Version:     reflected.Version,
		ID:          "ds2-4.schema.json",
		Title:       "What ds2 writes as JSON, in version 4",
		Definitions: all,
	})
	require.NoError(t, err)
	// Go writes null for a nil pointer, slice or map that is not left out.
	var tree any
	require.NoError(t, json.Unmarshal(text, &tree))
	nullable(tree)
	text, err = json.MarshalIndent(tree, "", "  ")
	require.NoError(t, err)
	return append(text, '\n')
}

// nullable lets every property be null that can be a nil pointer, slice or map; of ds2's pointers
// those are numbers and objects.
func nullable(tree any) {
	object, _ := tree.(map[string]any)
	for _, v := range object {
		nullable(v)
	}
	list, _ := tree.([]any)
	for _, v := range list {
		nullable(v)
	}
	properties, _ := object["properties"].(map[string]any)
	for name, v := range properties {
		property, ok := v.(map[string]any)
		if !ok {
			continue
		}
		if kind, ok := property["type"].(string); ok &&
			slices.Contains([]string{"number", "array", "object"}, kind) {
			property["type"] = []any{kind, "null"}
		} else if ref, ok := property["$ref"]; ok {
			delete(property, "$ref")
			property["anyOf"] = []any{map[string]any{"$ref": ref}, map[string]any{"type": "null"}}
		}
		properties[name] = property
	}
}

// TestPublishedSchema holds the published schema against the types.
func TestPublishedSchema(t *testing.T) {
	got := publishedSchema(t)
	if *updateSchema {
		require.NoError(t, os.WriteFile(schemaFile, got, 0o644))
	}
	assert.True(
		t,
		string(got) == read(t, schemaFile),
		"%s is not what the types say: go test ./cmd/ds2 "+
			"-run TestPublishedSchema -update-schema writes it again; what readers of its version rely on "+
			"stays",
		schemaFile,
	)
}

var compiled = sync.OnceValue(func() map[string]*jsonschema.Schema {
	c := jsonschema.NewCompiler()
	all := map[string]*jsonschema.Schema{}
	for output := range outputs {
		all[output] = c.MustCompile(schemaFile + "#/$defs/" + output)
	}
	return all
})

// fits holds a text against one of the outputs.
func fits(text, output string) error {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return compiled()[output].Validate(value)
}

// checkJSON holds what a command wrote by --output json against the published schema; every test
// that executes commands does so.
func checkJSON(t *testing.T, args []string, stdout string) {
	t.Helper()
	if !strings.HasPrefix(stdout, "{") && !strings.HasPrefix(stdout, "[") {
		return
	}
	var errs error
	for _, output := range commandOutputs[args[0]] {
		err := fits(stdout, output)
		if err == nil {
			return
		}
		errs = errors.Join(errs, err)
	}
	assert.NoError(
		t,
		errs,
		"ds2 %s: the output is not of the published schema",
		strings.Join(args, " "),
	)
}

func TestSchemaRefuses(t *testing.T) {
	for text, output := range map[string]string{
		`{}`:            "run",
		`[{"size": 3}]`: "sizes",
		`{"configurations": [], "differences": 1}`: "comparison",
	} {
		assert.Error(t, fits(text, output), "%s passes for %s", text, output)
	}
}

// TestJSONOfEveryCommand has each command that writes JSON do so on a real database: execute holds
// what it writes against the published schema.
func TestJSONOfEveryCommand(t *testing.T) {
	nightly.Long(t, "takes half a minute")
	t.Parallel()
	_, target := loadedServer(t)
	dir := t.TempDir()
	run := "--ramp-rate 100 --warmup-time 1s --run-time 2s --metrics-addr '' --quiet --target " + target
	text := "target: " + target + "\nruns: 1\nrun-time: 1s\nfactors: {threads: [1, 2]}\n" + noPausesYAML
	file := textFile(t, "threads.yaml", text)
	for _, line := range []string{
		"experiment --out DIR/experiment --quiet " + file,
		"report DIR/experiment",
		"drive --out DIR/run --limit 'order p95 < 10m' --checkpoint-first --threads 2 " + run,
		"bench --out DIR/bench --runs 1 --restore none --settle 0s --idle 1s --cooldown 1s --threads 2 " + run,
		"tune --out DIR/tune --start-threads 1 --max-threads 2 --restore none --limit 'order p95 < 10m' " + run,
		"report DIR/run",
		"report DIR/bench",
		"report DIR/tune",
		"compare DIR/run DIR/bench",
		"verify --quiet --target " + target,
		"sizes S 30MB",
	} {
		args := words("%s --output json", strings.ReplaceAll(line, "DIR", dir))
		assert.Regexp(t, `^[\[{]`, must(t, args...))
	}
}

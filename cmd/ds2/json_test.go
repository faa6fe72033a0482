package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/nightly"
)

// TestJSONOfEveryCommand has each command that writes JSON do so on a real database: execute holds what it writes
// against the published schema.
func TestJSONOfEveryCommand(t *testing.T) {
	nightly.Long(t, "takes half a minute")
	t.Parallel()
	_, target := loadedServer(t)
	dir := t.TempDir()
	run := "--ramp-rate 100 --warmup-time 1s --run-time 2s --metrics-addr '' --quiet --target " + target
	text := "target: " + target + "\nruns: 1\nrun-time: 1s\nfactors: {threads: [1, 2]}\n" +
		noPausesYAML
	file := textFile(t, "threads.yaml", text)
	for _, line := range []string{
		"experiment --out DIR/experiment --quiet " + file,
		"report DIR/experiment",
		"drive --out DIR/run --limit 'order p95 < 10m' --checkpoint-first --threads 2 " + run,
		"bench --out DIR/bench --runs 1 --restore none --settle 0s --idle 1s --cooldown 1s --threads 2 " +
			run,
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

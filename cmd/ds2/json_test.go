package main

import (
	"os"
	"path/filepath"
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
	run := []string{"--target", target, "--ramp-rate", "100", "--warmup-time", "1s", "--run-time", "2s", "--metrics-addr", "", "--quiet", "--output", "json"}
	record := filepath.Join(dir, "run")
	file := filepath.Join(dir, "threads.yaml")
	if err := os.WriteFile(file, []byte("target: "+target+"\nruns: 1\npractice: 0\nrestore: none\nsettle: 0\nidle: 0\ncooldown: 0\nwarmup-time: 0\nrun-time: 1s\nkeep-faulty: true\nmetrics-addr: ''\nthink-time: 20ms\nfactors:\n  threads: [1, 2]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"experiment", file, "--out", filepath.Join(dir, "experiment"), "--quiet", "--output", "json"},
		{"report", "--output", "json", filepath.Join(dir, "experiment")},
		append([]string{"drive", "--out", record, "--limit", "order p95 < 10m", "--checkpoint-first", "--threads", "2"}, run...),
		append([]string{"bench", "--out", filepath.Join(dir, "bench"), "--runs", "1", "--restore", "none", "--settle", "0s", "--idle", "1s", "--cooldown", "1s", "--keep-faulty", "--threads", "2"}, run...),
		append([]string{"tune", "--out", filepath.Join(dir, "tune"), "--start-threads", "1", "--max-threads", "2", "--restore", "none", "--limit", "order p95 < 10m"}, run...),
		{"report", "--output", "json", record},
		{"report", "--output", "json", filepath.Join(dir, "bench")},
		{"report", "--output", "json", filepath.Join(dir, "tune")},
		{"compare", "--output", "json", record, filepath.Join(dir, "bench")},
		{"verify", "--output", "json", "--quiet", "--target", target},
		{"sizes", "--output", "json", "S", "30MB"},
	} {
		assert.Regexp(t, `^[\[{]`, must(t, args...))
	}
}

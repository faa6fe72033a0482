package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/result"
)

// TestBenchBackup reads two databases of one cluster and one of another, and reports that in all formats.
func TestBenchBackup(t *testing.T) {
	t.Parallel()
	other := pgtest.Start(t, localpg.Options{})
	targets := []string{pgtest.Database(t), pgtest.Database(t), other.URL("postgres")}
	dir := filepath.Join(t.TempDir(), "backup")
	code, stdout, stderr := execute(t, "bench-backup", "--target", strings.Join(targets, ";"), "--out", dir, "--output", "json", "--quiet")
	var b result.Backup
	if err := json.Unmarshal([]byte(stdout), &b); code != exitDone || err != nil {
		t.Fatalf("exit %d, %v\n%s\n%s", code, err, stdout, stderr)
	}
	if len(b.Units) != 2 || len(b.Units[0].Targets) != 2 || len(b.Units[1].Targets) != 1 || b.Bytes != b.Units[0].Bytes+b.Units[1].Bytes || b.Units[1].Bytes < 10e6 || b.MBPerSecond <= 0 {
		t.Errorf("%+v", b)
	}
	for _, format := range []string{"text", "json", "html"} {
		code, stdout, stderr := execute(t, "report", "--details", "--output", format, "--out", "-", dir)
		if code != exitDone || !strings.Contains(stdout, b.Units[1].Unit) || strings.Contains(stdout, "password") {
			t.Errorf("%s: exit %d\n%.2000s\n%s", format, code, stdout, stderr)
		}
	}
	run := filepath.Join(t.TempDir(), "run")
	publishedRuns["S003"][0].record(t, run, "server1")
	if code, stdout, stderr := execute(t, "report", "--output", "esrp", run, dir); code != exitDone || !strings.Contains(stdout, "MB read/sec") {
		t.Errorf("in ESRP's form: exit %d\n%s\n%s", code, stdout, stderr)
	}
	for why, args := range map[string][]string{
		"--out":        {"bench-backup", "--target", targets[0], "--out", dir},
		"--output csv": {"report", "--output", "csv", dir},
		"--output":     {"report", "--output", "esrp", dir},
	} {
		fails(t, exitUsage, why, args...)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) < 2 {
		t.Errorf("the record holds %v, %v", entries, err)
	}
}

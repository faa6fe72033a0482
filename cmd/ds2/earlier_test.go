package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/texttest"
)

// TestEarlierRecord verifies a database by the record of a run after which another worked on it:
// that is refused, and leaves no note of a failed audit.
func TestEarlierRecord(t *testing.T) {
	t.Parallel()
	target := loaded(t)
	dir := t.TempDir()
	var records []string
	for _, run := range []string{"first", "second"} {
		out := filepath.Join(dir, run)
		must(t, quick("drive", target, "--run-time 1s --run-id %s --out %s", run, out)...)
		records = append(records, out)
	}
	fails(t, exitUsage, "run second worked on ",
		words("verify --target %s --quiet --record %s", target, records[0])...)
	db := pgtest.DB(t, target)
	noted := "SELECT count(*) FROM ds2_info WHERE name = 'failed_audit'"
	assert.Zero(t, pgtest.Value[int](t, db, noted))
	pgtest.Exec(t, db, // as where the second run could not write its note
		"UPDATE ds2_info SET value = 'first 2026-01-01T00:00:00Z' WHERE name = 'last_run'")
	stdout := must(t, words("verify --target %s --quiet --record %s", target, records[1])...)
	texttest.Contains(t, stdout, "audit of the whole database passed: ", "not looked at: ")
}

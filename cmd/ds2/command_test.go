package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
)

// execute runs the command line and returns its exit code and output.
func execute(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), args, &out, &err)
	checkJSON(t, args, out.String())
	return code, out.String(), err.String()
}

// must runs a command line that has to come to a good end, and returns what it prints.
func must(t *testing.T, args ...string) (stdout string) {
	t.Helper()
	code, stdout, stderr := execute(t, args...)
	if code != exitDone {
		t.Fatalf("ds2 %s: exit %d\n%s\n%s", redact(strings.Join(args, " ")), code, stdout, stderr)
	}
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
	if code != want || !strings.Contains(stderr, text) {
		t.Errorf("ds2 %s: exit %d, want %d and %q\n%s\n%s", redact(strings.Join(args, " ")), code, want, text, stdout, stderr)
	}
}

// origin is loaded once, by the first test that asks.
var origin sync.Once

// loaded is a database of the test's own that holds DS2's dataset of 1 MB.
func loaded(t *testing.T) (target string) {
	t.Helper()
	origin.Do(func() { must(t, "load", "--target", pgtest.Server(t).URL("origin"), "--size", "1MB", "--quiet") })
	return pgtest.Copy(t, "origin")
}

// openDB is a pool that is closed when the test ends.
func openDB(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

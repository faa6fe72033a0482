package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/load"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/schema"
)

// TestServerLost: what a load advises where its server went away is no advice where the server
// answered and said why.
func TestServerLost(t *testing.T) {
	began := &load.Report{Phases: []load.PhaseTime{{Phase: schema.Tables, Time: time.Second}}}
	const memory = "if memory was short"
	for name, c := range map[string]struct {
		err    store.Error
		advice bool
	}{
		"the connection broke": {store.Error{Class: store.Connection}, true},
		"the server is not there": {
			store.Error{Class: store.Connection, Hint: "start the server"}, true,
		},
		"the server goes down": {store.Error{Class: store.Connection, Code: "57P01"}, true},
		"the role dbo does not exist": {store.Error{
			Class: store.Connection, Code: "33557097",
			Hint: "the text is PostgreSQL's",
		}, false},
		"the statement was refused": {store.Error{Class: store.Bug}, false},
	} {
		c.err.Err = errors.New(name)
		got := serverLost(&c.err, began).Error()
		assert.True(t, strings.Contains(got, memory) == c.advice, "%s: %s", name, got)
	}
}

// TestLoadWaitsForRecovery (E10): a server that recovers after a crash refuses sessions until it is
// done. The recovery here waits for the next file of an archive, as long as the test has it wait; a
// hot standby would take readers before.
func TestLoadWaitsForRecovery(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{Settings: map[string]string{"hot_standby": "off"}})
	server.Kill()
	whole := filepath.Join(server.DataDir(), "whole")
	for name, text := range map[string]string{
		"postgresql.auto.conf": fmt.Sprintf("restore_command = 'until [ -e %s ]; do sleep .1; done; false'\n", whole),
		"recovery.signal":      "",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(server.DataDir(), name), []byte(text), 0o644))
	}
	restarted := make(chan error, 1)
	go func() { restarted <- server.Restart(t.Context()) }()
	await(t, "the server's refusal", func() bool {
		_, err := pgx.Connect(t.Context(), server.URL("postgres"))
		require.Error(t, err)
		return strings.Contains(err.Error(), "57P03")
	})

	p := begin(
		t,
		words(
			"load --resume --target %s --size 1MB --metrics-addr '' --quiet",
			server.URL("ds2"),
		)...)
	p.await(t, "word that it waits", func() bool {
		return strings.Contains(p.stderr.String(), "waiting")
	})
	require.NoError(t, os.WriteFile(whole, nil, 0o644))
	p.ends(t, exitDone)
	require.NoError(t, <-restarted)
}

// TestSnapshotOfUnfinishedLoad refuses to copy what a load has left half done.
func TestSnapshotOfUnfinishedLoad(t *testing.T) {
	t.Parallel()
	target := loaded(t)
	db := pgtest.DB(t, target)
	pgtest.Exec(t, db, "UPDATE ds2_info SET value = 'loading' WHERE name = 'state'")
	db.Close()
	fails(t, exitFailed, "load was not finished", "snapshot", "create", "--target", target)
}

// TestRemoveForGood types what the help of load says removes a dataset: nothing of ds2 is left, and
// what is the user's own stays.
func TestRemoveForGood(t *testing.T) {
	target := loaded(t)
	db, err := pgx.Connect(t.Context(), target)
	require.NoError(t, err)
	defer db.Close(t.Context())
	_, err = db.Exec(t.Context(), "CREATE TABLE mine (n int)")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), must(t, "schema", "--phase", "drop"))
	require.NoError(t, err)
	var tables, functions int
	require.NoError(t, db.QueryRow(t.Context(), `SELECT
		(SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace),
		(SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace)`).
		Scan(&tables, &functions))
	assert.Equal(t, 1, tables, "the user's own")
	assert.Zero(t, functions)
}

// TestExamplesOfFiles reads the files of docs/examples as a user's.
func TestExamplesOfFiles(t *testing.T) {
	t.Setenv("PGPASSWORD", "secret")
	for _, file := range []string{"arrays.yaml", "factors.yaml"} {
		must(t, "experiment", "../../docs/examples/"+file, "--plan", "--out", t.TempDir())
	}
	settings := must(t, "config", "drive", "--engine", "postgres", "--config_file",
		"../../docs/examples/DriverConfig.txt")
	assert.Regexp(t, `(?m)^run-time +20m0s  \(command line\)$`, settings)
}

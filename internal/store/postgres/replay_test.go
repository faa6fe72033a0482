package postgres

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
)

// TestReplaySettings changes settings for a replay test and sets them back: to what ALTER SYSTEM had set before, where
// it had.
func TestReplaySettings(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{})
	db := open(t, server)
	pgtest.Exec(t, db, "CREATE TABLE ds2_info (name text PRIMARY KEY, value text NOT NULL)", "ALTER SYSTEM SET max_wal_size = '80MB'", "SELECT pg_reload_conf()")
	st := openStore(t, server.URL("postgres"))
	own := ownSettings(t, db)
	changed, err := store.PrepareReplay(t.Context(), st, "a", 100e6, server.LogFile())
	if err != nil || strings.Join(changed, " ") != "checkpoint_timeout max_wal_size" {
		t.Fatalf("changed %v, %v", changed, err)
	}
	var timeout, size string
	if err := db.QueryRow("SELECT current_setting('checkpoint_timeout'), current_setting('max_wal_size')").Scan(&timeout, &size); err != nil || timeout != "1d" || size != "302MB" {
		t.Errorf("checkpoint_timeout %s, max_wal_size %s, %v", timeout, size, err)
	}
	if restored, err := store.RestoreSettings(t.Context(), st, "a"); len(restored) > 0 || err != nil {
		t.Errorf("another driver machine of the run set back %v, %v", restored, err)
	}
	// A second test finds what the first left, and does not take it for what the user had set.
	if changed, err := store.PrepareReplay(t.Context(), st, "b", 200e6, server.LogFile()); err != nil || len(changed) != 2 {
		t.Errorf("changed again %v, %v", changed, err)
	}
	// A note that cannot be read for now is told: what was before would be forgotten.
	tx, err := db.Begin()
	require.NoError(t, err)
	_, err = tx.Exec("LOCK TABLE ds2_info")
	require.NoError(t, err)
	unread := make(chan error, 1)
	go func() {
		_, err := store.RestoreSettings(t.Context(), st, "c")
		unread <- err
	}()
	for cancelled := 0; cancelled == 0; {
		require.NoError(t, tx.QueryRow("SELECT count(pg_cancel_backend(pid)) FROM pg_locks WHERE NOT granted").Scan(&cancelled))
	}
	require.Equal(t, store.Timeout, store.Classify(<-unread))
	require.NoError(t, tx.Rollback())
	if restored, err := store.RestoreSettings(t.Context(), st, "c"); err != nil || strings.Join(restored, " ") != "checkpoint_timeout max_wal_size" {
		t.Errorf("restored %v, %v", restored, err)
	}
	assert.Equal(t, own, ownSettings(t, db), "ALTER SYSTEM has set")
	if restored, err := store.RestoreSettings(t.Context(), st, ""); len(restored) > 0 || err != nil {
		t.Errorf("restored twice: %v, %v", restored, err)
	}
	pgtest.Exec(t, db, "CREATE ROLE plain LOGIN PASSWORD 'plain'; GRANT EXECUTE ON FUNCTION pg_current_logfile() TO plain")
	plain := openStore(t, pgtest.As(t, server.URL("postgres"), "plain", "plain"))
	err = plain.Can().Replay.CheckReplay(t.Context(), 100e6, server.LogFile())
	assert.ErrorContains(t, err, "may not change")
	assert.ErrorContains(t, err, "superuser")
	_, err = store.PrepareReplay(t.Context(), st, "d", 1e6, "")
	assert.ErrorContains(t, err, "--server-log", "without a log to read")
	pgtest.Exec(t, db, "ALTER SYSTEM SET log_min_messages = fatal")
	require.NoError(t, server.Restart(t.Context()))
	st = openStore(t, server.URL("postgres")) // without connections to the server that was
	_, err = store.PrepareReplay(t.Context(), st, "d", 1e6, server.LogFile())
	assert.ErrorContains(t, err, "log_min_messages", "without a word of the recovery")
}

// ownSettings is what ALTER SYSTEM has set.
func ownSettings(t *testing.T, db *sql.DB) (text string) {
	t.Helper()
	require.NoError(t, db.QueryRow("SELECT coalesce(string_agg(name || '=' || setting, ' ' ORDER BY name), '') FROM pg_file_settings WHERE sourcefile LIKE '%postgresql.auto.conf'").Scan(&text))
	return text
}

// TestReplaySettingsOfCommandLine refuses a server whose command line keeps a setting, and sets the others back.
func TestReplaySettingsOfCommandLine(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{Settings: map[string]string{"max_wal_size": "64MB"}})
	db := open(t, server)
	pgtest.Exec(t, db, "CREATE TABLE ds2_info (name text PRIMARY KEY, value text NOT NULL)")
	st := openStore(t, server.URL("postgres"))
	_, err := store.PrepareReplay(t.Context(), st, "a", 100e6, server.LogFile())
	assert.ErrorContains(t, err, "command line")
	assert.Equal(t, "", ownSettings(t, db), "ALTER SYSTEM has set")
}

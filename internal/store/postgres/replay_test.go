package postgres_test

import (
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
	st := open(t, server.URL("postgres"))
	db := st.DB()
	pgtest.Exec(t, db, replayNotes, "ALTER SYSTEM SET max_wal_size = '80MB'", "SELECT pg_reload_conf()")
	own := pgtest.Value[string](t, db, ownSettings)
	both := []string{"checkpoint_timeout", "max_wal_size"}
	prepare := func(run string, bytes int64) {
		t.Helper()
		changed, err := store.PrepareReplay(t.Context(), st, run, bytes, server.LogFile())
		require.NoError(t, err)
		require.Equal(t, both, changed)
	}
	restores := func(except string, want []string) {
		t.Helper()
		restored, err := store.RestoreSettings(t.Context(), st, except)
		require.NoError(t, err)
		assert.Equal(t, want, restored)
	}
	prepare("a", 100e6)
	const now = "SELECT concat(current_setting('checkpoint_timeout'), ' ', current_setting('max_wal_size'))"
	assert.Equal(t, "1d 302MB", pgtest.Value[string](t, db, now))
	restores("a", nil)  // by another driver machine of the run
	prepare("b", 200e6) // which finds what the first left, and does not take it for what the user had set
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
	pgtest.Await(t, db, "SELECT count(pg_cancel_backend(pid)) > 0 FROM pg_locks WHERE NOT granted")
	require.Equal(t, store.Timeout, store.Classify(<-unread))
	require.NoError(t, tx.Rollback())
	restores("c", both)
	assert.Equal(t, own, pgtest.Value[string](t, db, ownSettings), "ALTER SYSTEM has set")
	restores("", nil)
	reader := plain(t, server.URL("postgres"))
	pgtest.Exec(t, db, "GRANT EXECUTE ON FUNCTION pg_current_logfile() TO ds2_reader")
	err = reader.Can().Replay.CheckReplay(t.Context(), 100e6, server.LogFile())
	assert.ErrorContains(t, err, "may not change")
	assert.ErrorContains(t, err, "superuser")
	_, err = store.PrepareReplay(t.Context(), st, "d", 1e6, "")
	assert.ErrorContains(t, err, "--server-log", "without a log to read")
	pgtest.Exec(t, db, "ALTER SYSTEM SET log_min_messages = fatal")
	require.NoError(t, server.Restart(t.Context()))
	st = open(t, server.URL("postgres")) // without connections to the server that was
	_, err = store.PrepareReplay(t.Context(), st, "d", 1e6, server.LogFile())
	assert.ErrorContains(t, err, "log_min_messages", "without a word of the recovery")
}

// replayNotes makes the table that a replay test makes a note in.
const replayNotes = "CREATE TABLE ds2_info (name text PRIMARY KEY, value text NOT NULL)"

// ownSettings asks what ALTER SYSTEM has set.
const ownSettings = `SELECT coalesce(string_agg(name || '=' || setting, ' ' ORDER BY name), '')
	FROM pg_file_settings WHERE sourcefile LIKE '%postgresql.auto.conf'`

// TestReplaySettingsOfCommandLine refuses a server whose command line keeps a setting, and sets the others back.
func TestReplaySettingsOfCommandLine(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{Settings: map[string]string{"max_wal_size": "64MB"}})
	st := open(t, server.URL("postgres"))
	pgtest.Exec(t, st.DB(), replayNotes)
	_, err := store.PrepareReplay(t.Context(), st, "a", 100e6, server.LogFile())
	assert.ErrorContains(t, err, "command line")
	assert.Empty(t, pgtest.Value[string](t, st.DB(), ownSettings), "ALTER SYSTEM has set")
}

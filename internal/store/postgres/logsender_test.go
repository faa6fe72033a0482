package postgres_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
)

// slots are the replication slots of a server that are named as those of readers.
func slots(t *testing.T, db *sql.DB) (n, temporary int) {
	t.Helper()
	require.NoError(t, db.QueryRow(`SELECT count(*), count(*) FILTER (WHERE temporary AND active) FROM pg_replication_slots WHERE slot_name LIKE 'ds2\_%'`).Scan(&n, &temporary))
	return n, temporary
}

func TestOpenLog(t *testing.T) {
	s := open(t, pgtest.Database(t))
	r, err := s.Can().OpenLog(t.Context())
	require.NoError(t, err)
	defer r.Close()
	if n, temporary := slots(t, s.DB()); n != 1 || temporary != 1 {
		t.Errorf("%d slots, %d of them temporary and in use, while the log is read", n, temporary)
	}
	var written, received int64
	const write = `
		WITH begin AS MATERIALIZED (SELECT pg_current_wal_insert_lsn() AS lsn),
			message AS MATERIALIZED (SELECT lsn, pg_logical_emit_message(false, 'ds2', repeat('x', 3000000)) AS at FROM begin)
		SELECT at - lsn FROM message`
	require.NoError(t, s.DB().QueryRow(write).Scan(&written))
	pgtest.Exec(t, s.DB(), "SELECT pg_switch_wal()") // which writes all of it
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for received < written {
		read, err := r.Read(ctx)
		require.NoError(t, err, "after %d of %d bytes", received, written)
		received += read.Bytes
	}

	// The server is told how far the log was read, so that it need not keep it.
	behind := int64(1)
	for begin := time.Now(); behind > 0 && time.Since(begin) < 5*time.Minute; {
		wait, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		r.Read(wait)
		cancel()
		require.NoError(t, s.DB().QueryRow(`SELECT pg_current_wal_flush_lsn() - restart_lsn FROM pg_replication_slots WHERE slot_name LIKE 'ds2\_%'`).Scan(&behind))
	}
	assert.True(t, behind <= 0, "the slot still keeps %d bytes of the log", behind)

	r.Close()
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if n, _ := slots(t, s.DB()); n == 0 {
			break
		}
		if time.Since(begin) > 5*time.Minute {
			t.Fatal("the slot is still there five minutes after its reader left")
		}
	}
}

func TestOpenLogTakesARight(t *testing.T) {
	target := pgtest.Database(t)
	s := plain(t, target)
	_, err := s.Can().OpenLog(t.Context())
	refused(t, err, store.Config, `ALTER ROLE "ds2_reader" REPLICATION`)
	pgtest.Exec(t, open(t, target).DB(), "ALTER ROLE ds2_reader REPLICATION")
	r, err := s.Can().OpenLog(t.Context())
	require.NoError(t, err)
	r.Close()
}

// TestOpenLogRefused asks servers that cannot send their log, or whose commits would wait for the reader.
func TestOpenLogRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		settings map[string]string
		says     string
	}{
		{map[string]string{"wal_level": "minimal", "max_wal_senders": "0"}, "wal_level is minimal"},
		{map[string]string{"max_wal_senders": "0"}, "max_wal_senders is 0, and 0 are in use"},
		{map[string]string{"max_replication_slots": "0"}, "max_replication_slots is 0, and 0 are in use"},
		{map[string]string{"synchronous_standby_names": "*"}, "commits would wait"},
	} {
		t.Run(c.says, func(t *testing.T) {
			c.settings["fsync"] = "off"
			server := pgtest.Start(t, localpg.Options{Settings: c.settings})
			_, err := open(t, server.URL("postgres")).Can().OpenLog(t.Context())
			refused(t, err, store.Config, c.says)
		})
	}
}

// TestKilledServerKeepsNoSlot kills the server while its log is read.
func TestKilledServerKeepsNoSlot(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{})
	s := open(t, server.URL("postgres"))
	r, err := s.Can().OpenLog(t.Context())
	require.NoError(t, err)
	server.Kill()
	for err == nil {
		_, err = r.Read(t.Context())
	}
	assert.Equal(t, store.Connection, store.Classify(err), "after the kill: %v", err)
	r.Close()
	require.NoError(t, server.Restart(t.Context()))
	s.DB().SetMaxIdleConns(0)
	if n, _ := slots(t, s.DB()); n != 0 {
		t.Errorf("%d slots after a kill", n)
	}
}

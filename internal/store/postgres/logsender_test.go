package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
)

// noSlots asks whether none of the server's replication slots is named as those of readers.
const noSlots = `SELECT NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name LIKE 'ds2\_%')`

func TestOpenLog(t *testing.T) {
	s := open(t, pgtest.Database(t))
	r, err := s.Can().OpenLog(t.Context())
	require.NoError(t, err)
	defer r.Close()
	const slots = `SELECT string_agg(concat(temporary, ' ', active), ',')
		FROM pg_replication_slots WHERE slot_name LIKE 'ds2\_%'`
	assert.Equal(t, "t t", pgtest.Value[string](t, s.DB(), slots), "one temporary slot that is in use")
	const write = `
		WITH begin AS MATERIALIZED (SELECT pg_current_wal_insert_lsn() AS lsn),
			message AS MATERIALIZED (
				SELECT lsn, pg_logical_emit_message(false, 'ds2', repeat('x', 3000000)) AS at FROM begin)
		SELECT at - lsn FROM message`
	written, received := pgtest.Value[int64](t, s.DB(), write), int64(0)
	pgtest.Exec(t, s.DB(), "SELECT pg_switch_wal()") // which writes all of it
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for received < written {
		read, err := r.Read(ctx)
		require.NoError(t, err, "after %d of %d bytes", received, written)
		received += read.Bytes
	}

	// The server is told how far the log was read, so that it need not keep it.
	const behind = `SELECT pg_current_wal_flush_lsn() > restart_lsn
		FROM pg_replication_slots WHERE slot_name LIKE 'ds2\_%'`
	for pgtest.Value[bool](t, s.DB(), behind) {
		require.NoError(t, ctx.Err(), "the slot still keeps some of the log")
		wait, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		r.Read(wait)
		cancel()
	}

	r.Close()
	pgtest.Await(t, s.DB(), noSlots)

	// The server ends the session that the log comes through.
	r, err = s.Can().OpenLog(t.Context())
	require.NoError(t, err)
	defer r.Close()
	pgtest.Exec(t, s.DB(),
		`SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name LIKE 'ds2\_%'`)
	for err == nil {
		_, err = r.Read(ctx)
	}
	assert.Equal(t, store.Connection, store.Classify(err), "%v", err)
	pgtest.Await(t, s.DB(), noSlots)
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

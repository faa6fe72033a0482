package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	storepostgres "ds2/internal/store/postgres"
	"ds2/internal/workload/mailbox"
	"ds2/internal/workload/mailbox/mailboxtest"
	"ds2/internal/workload/mailbox/postgres"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func open(t *testing.T) store.Database {
	t.Helper()
	return pgtest.Open(t, storepostgres.Open, pgtest.Database(t))
}

// TestConformance runs what every engine's calls must do.
func TestConformance(t *testing.T) {
	mailboxtest.Run(t, mailboxtest.Engine{Calls: postgres.Engine{}, Open: open, Lazy: true, PagesRead: pagesRead,
		Audited: audited})
}

// audited: the connection that audits has kept no statement for each handful of records.
func audited(t *testing.T, s store.Database) {
	const most = 8 << 20
	var bytes, version int64
	require.NoError(t, s.DB().QueryRow("SELECT current_setting('server_version_num')").Scan(&version))
	if version < 14_00_00 { // the first to have pg_backend_memory_contexts
		return
	}
	require.NoError(t, s.DB().QueryRow("SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts").Scan(&bytes))
	require.Less(t, bytes, int64(most), "bytes of the server's process")
}

// pagesRead is what the server's statistics say.
func pagesRead(t *testing.T, s store.Database) (pages int64) {
	pgtest.Counted(t, s.DB())
	const query = "SELECT heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit FROM pg_statio_user_tables" +
		" WHERE relname = 'messages'"
	require.NoError(t, s.DB().QueryRow(query).Scan(&pages))
	return pages
}

// TestLazy: with a standby that never comes, a full commit waits for ever, and a lazy one does not.
func TestLazy(t *testing.T) {
	s := open(t)
	size := mailbox.Size{Mailboxes: 20, MailboxBytes: 1 << 20}
	target := mailboxtest.Load(t, s, postgres.Engine{}, size)
	setting := func(value string) {
		t.Helper()
		pgtest.Exec(t, s.DB(), "ALTER SYSTEM SET synchronous_standby_names = '"+value+"'", "SELECT pg_reload_conf()")
	}
	setting("nobody")
	defer setting("")
	session, err := postgres.Engine{}.Connect(t.Context(), s)
	require.NoError(t, err)
	defer session.Close(context.Background())
	shape := mailbox.Shape{Mailboxes: size.Mailboxes, Seed: target.Dataset.Seed}
	step := func(record uint64) *mailbox.Step {
		s := &mailbox.Step{Op: mailbox.Replace}
		shape.Fill(&s.Record, record, 1)
		return s
	}
	// The server's processes read the setting one after the other: a commit that waits tells that the last has.
	for waits := 0; waits == 0; {
		full, err := postgres.Engine{}.Connect(t.Context(), s)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- full.Transact(ctx, step(5), false) }()
		for len(ended) == 0 && waits == 0 {
			const query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
			require.NoError(t, s.DB().QueryRow(query).Scan(&waits))
		}
		cancel()
		err = <-ended
		if e, ok := errors.AsType[*store.Error](err); waits > 0 && (!ok || !e.InDoubt) {
			t.Errorf("a full commit without acknowledgement: %v", err)
		}
		full.Close(context.Background())
	}
	for range 3 { // of a row that no commit still waits with
		require.NoError(t, session.Transact(t.Context(), step(6), true), "a lazy commit")
	}
}

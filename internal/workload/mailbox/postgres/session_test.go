package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/load"
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
	u, err := url.Parse(pgtest.Database(t))
	require.NoError(t, err)
	s, err := storepostgres.Open(u)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// TestConformance runs what every engine's calls must do.
func TestConformance(t *testing.T) {
	mailboxtest.Run(t, mailboxtest.Engine{Calls: postgres.Engine{}, Open: open, Lazy: true, PagesRead: pagesRead})
}

// pagesRead is what the server's statistics say.
func pagesRead(t *testing.T, s store.Database) (pages int64) {
	pgtest.Counted(t, s.DB())
	const query = "SELECT heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit FROM pg_statio_user_tables WHERE relname = 'messages'"
	require.NoError(t, s.DB().QueryRow(query).Scan(&pages))
	return pages
}

// TestLazy: with a standby that never comes, a full commit waits for ever, and a lazy one does not.
func TestLazy(t *testing.T) {
	s := open(t)
	dataset := mailbox.Dataset{
		Size: mailbox.Size{Mailboxes: 20, MailboxBytes: 1 << 20}, Profile: "exchange2007sp1", Seed: 3,
		Engines: map[string]mailbox.Engine{storepostgres.Engine: postgres.Engine{}},
	}
	if _, err := load.Run(t.Context(), s, load.Options{Dataset: dataset, AtOnce: 2}); err != nil {
		t.Fatal(err)
	}
	setting := func(value string) {
		t.Helper()
		for _, sql := range []string{"ALTER SYSTEM SET synchronous_standby_names = '" + value + "'", "SELECT pg_reload_conf()"} {
			if _, err := s.DB().ExecContext(context.Background(), sql); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 {
			var now string
			if err := s.DB().QueryRow("SHOW synchronous_standby_names").Scan(&now); err == nil && now == value {
				time.Sleep(100 * time.Millisecond) // other processes read it a little later
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatal("the setting was not read")
	}
	session, err := postgres.Engine{}.Connect(t.Context(), s)
	require.NoError(t, err)
	defer session.Close(context.Background())
	setting("nobody")
	defer setting("")
	step := make([]mailbox.Step, 1)
	shape := mailbox.Shape{Mailboxes: dataset.Size.Mailboxes, Seed: dataset.Seed}
	step[0].Op = mailbox.Replace
	shape.Fill(&step[0].Record, 5, 1)
	for range 3 {
		if err := session.Transact(t.Context(), step, true); err != nil {
			t.Fatalf("a lazy commit: %v", err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err = session.Transact(ctx, step, false)
	if e, ok := errors.AsType[*store.Error](err); !ok || !e.InDoubt || ctx.Err() == nil {
		t.Errorf("a full commit that nobody acknowledges: %v", err)
	}
}

package runs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/measure"
	"ds2/internal/nightly"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/workload/ds2/calls"
)

// faulty is a server that a run reaches through a proxy.
type faulty struct {
	*localpg.Server
	db    *sql.DB // past the proxy
	proxy *toxiproxy.Proxy
	store store.Database // through the proxy
}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	server, o := ready(t, localpg.Options{Settings: map[string]string{"max_connections": "25"}})
	target, err := url.Parse(server.URL("ds2"))
	require.NoError(t, err)
	control := toxiproxy.NewServer(
		toxiproxy.NewMetricsContainer(prometheus.NewRegistry()),
		zerolog.Nop(),
	)
	proxy := toxiproxy.NewProxy(control, "ds2", "127.0.0.1:0", target.Host)
	require.NoError(t, proxy.Start())
	t.Cleanup(proxy.Stop)
	target.Host = proxy.Listen
	through := pgtest.Open(t, postgres.Open, target.String())
	return &faulty{server, o.Databases[0].DB(), proxy, through}
}

// amid lets a fault last until the run has met it, and does something again and again meanwhile.
type amid func(again func() error) error

// fault makes a fault and ends it.
type fault func(ctx context.Context, met amid) error

// nothing is what is done meanwhile where a fault lasts by itself.
func nothing() error { return nil }

// toxic spoils what the server sends.
func (f *faulty) toxic(kind string) fault {
	return func(ctx context.Context, met amid) error {
		_, err := f.proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(
			`{"name": "t", "type": %q, "stream": "downstream", "attributes": {"timeout": 0}}`,
			kind,
		)))
		if err == nil {
			err = met(nothing)
		}
		return errors.Join(err, f.proxy.Toxics.RemoveToxic(ctx, "t"))
	}
}

// raise lets a fifth of the calls of ds2_browse_by_category fail with an SQLSTATE.
func (f *faulty) raise(state string) fault {
	return func(ctx context.Context, met amid) error {
		var original string
		const definition = "SELECT pg_get_functiondef('ds2_browse_by_category'::regproc)"
		if err := f.db.QueryRowContext(ctx, definition).Scan(&original); err != nil {
			return err
		}
		_, err := f.db.ExecContext(ctx, fmt.Sprintf(`
			CREATE OR REPLACE FUNCTION ds2_browse_by_category(batch_size_in integer, category_in smallint)
			RETURNS SETOF products LANGUAGE plpgsql AS $$ BEGIN
				IF random() < 0.2 THEN RAISE EXCEPTION 'as the test wants it' USING ERRCODE = '%s'; END IF;
			END $$`, state))
		if err == nil {
			err = met(nothing)
		}
		_, restored := f.db.ExecContext(ctx, original)
		return errors.Join(err, restored)
	}
}

// smallDisk puts the order lines on a file system of 64 MB, and gives what fills it up.
func (f *faulty) smallDisk(t *testing.T) (fill fault) {
	t.Helper()
	dir, _ := devicetest.Small(t, "64m", f.DataDir())
	pgtest.Exec(
		t,
		f.db,
		"CREATE TABLESPACE small LOCATION '"+dir+"'",
		"ALTER TABLE orderlines SET TABLESPACE small",
	)
	t.Cleanup(func() {
		pgtest.Exec(
			t,
			f.db,
			"ALTER TABLE orderlines SET TABLESPACE pg_default",
			"DROP TABLESPACE small",
		)
	})
	return func(_ context.Context, met amid) error {
		ballast := filepath.Join(dir, "ballast")
		defer os.Remove(ballast)
		if err := os.WriteFile(ballast, make([]byte, 64<<20), 0o600); !errors.Is(
			err,
			syscall.ENOSPC,
		) {
			return fmt.Errorf("filling the disk up: %w", err)
		}
		return met(nothing) // the table's free space takes order lines for a while
	}
}

// killBackends ends two sessions of the run, again and again.
func (f *faulty) killBackends(ctx context.Context, met amid) error {
	return met(func() error {
		_, err := f.db.ExecContext(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = 'ds2' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 2`)
		return err
	})
}

// occupy takes every connection that the server has, those of the run among them.
func (f *faulty) occupy(ctx context.Context, met amid) error {
	db, err := sql.Open("pgx", f.URL("postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	admin, err := f.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer admin.Close()
	var taken []*sql.Conn
	defer func() {
		for _, conn := range taken {
			conn.Close()
		}
	}()
	takeAll := func() {
		for {
			conn, err := db.Conn(ctx)
			if err != nil {
				return
			}
			taken = append(taken, conn)
		}
	}
	return met(func() error {
		_, err := admin.ExecContext(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE application_name = 'ds2' AND pid <> pg_backend_pid()`)
		takeAll()
		return err
	})
}

// TestFaults has runs go on through faults of the server and of the network: no order is lost but
// those in doubt, each failure is counted under its class, and the database holds what the run
// says. A fault begins amid orders and ends when the run has met it; the run ends when orders are
// acknowledged again.
func TestFaults(t *testing.T) {
	nightly.Long(t, "takes half a minute")
	t.Parallel()
	f := newFaulty(t)
	restart := func(ctx context.Context, met amid) error {
		return errors.Join(f.Restart(ctx), met(nothing))
	}
	kill := func(ctx context.Context, met amid) error {
		f.Kill()
		return errors.Join(met(nothing), f.Restart(ctx))
	}
	for _, c := range []struct {
		why   string
		fault fault
		class store.Class // that must be seen
		all   bool        // users have to connect again
	}{
		{"the server restarts", restart, store.Connection, true},
		{"the server is killed, and comes back", kill, store.Connection, true},
		{"backends are killed", f.killBackends, store.Connection, false},
		{"the network stalls", f.toxic("timeout"), store.Connection, true},
		{"the network resets connections", f.toxic("reset_peer"), store.Connection, true},
		{"deadlocks", f.raise("40P01"), store.Deadlock, false},
		{"serialization failures", f.raise("40001"), store.Serialization, false},
		{"a full disk", nil, store.Resource, false},
		{"too few connections", f.occupy, store.Resource, true},
	} {
		t.Run(c.why, func(t *testing.T) {
			if c.fault == nil {
				c.fault = f.smallDisk(t)
			}
			o := options(t, f.store)
			o.RunTime.Duration = 0 // until stopped
			o.MaxRetries = 1000
			run := begin(t, o)
			happened := make(chan error, 1)
			s := recorded(t, run, func() {
				moreOrders(t, run, 20)
				happened <- c.fault(t.Context(), func(again func() error) error {
					for !meets(run, c.class) {
						if err := again(); err != nil {
							return err
						}
						time.Sleep(50 * time.Millisecond)
					}
					return nil
				})
				moreOrders(t, run, 50)
				// no user still waits before its next try, for 5 s at most
				if c.class == store.Resource {
					later(t, run, 5*time.Second)
				}
				if c.all {
					await(t, func() bool {
						return run.Meter().Totals()[0].Counts.Reconnects >= int64(o.Threads)
					})
					moreOrders(t, run, 20)
				}
			})
			require.NoError(t, <-happened)
			inDoubt := calls.Count(s.Counts, calls.InDoubtPurchases)
			customers := calls.InDoubtCustomers
			t.Logf(
				"errors %v, %d reconnects, in doubt %d purchases, %d customers",
				s.Errors,
				s.Counts.Reconnects,
				inDoubt,
				calls.Count(s.Counts, customers),
			)
			met := func(e measure.FailureCount) bool {
				return e.Class == string(c.class) && e.Count > 0
			}
			assert.True(t, slices.ContainsFunc(s.Errors, met), "want some of class %s", c.class)
			for _, failed := range s.Errors {
				assert.NotEmpty(t, failed.Example, failed.Class)
			}
			assert.True(t, c.class != store.Connection || s.Counts.Reconnects > 0)
			assert.Equal(t, inDoubt, s.Counts.GivenUp, "no other order is lost")
			audit, _ := audited(t, run)
			assert.True(t, audit.Passed, "%+v", audit.Checks)
		})
	}
}

// meets tells whether a run has met a fault: it has counted a failure.
func meets(run *Run, class store.Class) bool {
	for failure := range run.Meter().Totals()[0].Errors {
		if failure.Class == string(class) {
			return true
		}
	}
	return false
}

// TestServerStaysDown: what ends a run whose server does not come back is why it did not answer,
// and not that it was waited for.
func TestServerStaysDown(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	r := &Run{options: options(t, f.store)}
	f.proxy.Stop()
	f.store.DB().SetMaxIdleConns(0)
	short, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	_, err := r.readMarks(short, t.Context(), true)
	require.ErrorContains(t, err, "connection refused")
	require.NotErrorIs(t, err, context.DeadlineExceeded)
}

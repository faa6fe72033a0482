package runs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/measure"
	"ds2/internal/nightly"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	ds2counts "ds2/internal/workload/ds2/counts"
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
	server, o := ready(t, localpg.Options{})
	target, err := url.Parse(server.URL("ds2"))
	require.NoError(t, err)
	control := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	proxy := toxiproxy.NewProxy(control, "ds2", "127.0.0.1:0", target.Host)
	require.NoError(t, proxy.Start())
	t.Cleanup(proxy.Stop)
	target.Host = proxy.Listen
	through, err := postgres.Open(target)
	require.NoError(t, err)
	t.Cleanup(func() { through.Close() })
	return &faulty{server, o.Targets[0].DB(), proxy, through}
}

// fault begins, lasts until the run has met it, and ends.
type fault = func(ctx context.Context, met func()) error

// toxic spoils what the server sends.
func (f *faulty) toxic(kind string) fault {
	return func(ctx context.Context, met func()) error {
		_, err := f.proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(
			`{"name": "t", "type": %q, "stream": "downstream", "attributes": {"timeout": 0}}`, kind)))
		if err == nil {
			met()
		}
		return errors.Join(err, f.proxy.Toxics.RemoveToxic(ctx, "t"))
	}
}

// raise lets a share of the calls of ds2_browse_by_category fail with an SQLSTATE.
func (f *faulty) raise(state string, share float64) fault {
	return func(ctx context.Context, met func()) error {
		var original string
		const definition = "SELECT pg_get_functiondef('ds2_browse_by_category'::regproc)"
		if err := f.db.QueryRowContext(ctx, definition).Scan(&original); err != nil {
			return err
		}
		_, err := f.db.ExecContext(ctx, fmt.Sprintf(`
			CREATE OR REPLACE FUNCTION ds2_browse_by_category(batch_size_in integer, category_in smallint)
			RETURNS SETOF products LANGUAGE plpgsql AS $$ BEGIN
				IF random() < %g THEN RAISE EXCEPTION 'as the test wants it' USING ERRCODE = '%s'; END IF;
			END $$`, share, state))
		if err == nil {
			met()
		}
		_, restored := f.db.ExecContext(ctx, original)
		return errors.Join(err, restored)
	}
}

// TestFaults has runs go on through faults of the server and of the network: no order is lost but those in doubt, each
// failure is counted under its class, and the database holds what the run says. A fault begins amid orders and ends
// when the run has met it; the run ends when orders are acknowledged again.
func TestFaults(t *testing.T) {
	nightly.Long(t, "takes half a minute")
	t.Parallel()
	f := newFaulty(t)
	restart := func(ctx context.Context, met func()) error {
		defer met()
		return f.Restart(ctx)
	}
	kill := func(ctx context.Context, met func()) error {
		f.Kill()
		met()
		return f.Restart(ctx)
	}
	killBackends := func(ctx context.Context, met func()) error {
		defer met()
		_, err := f.db.ExecContext(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = 'ds2' AND pid <> pg_backend_pid()`)
		return err
	}
	for _, c := range []struct {
		why   string
		fault fault
		class store.Class // that must be seen; where it is Connection, users have to connect again
	}{
		{"the server restarts", restart, store.Connection},
		{"the server is killed, and comes back", kill, store.Connection},
		{"backends are killed", killBackends, store.Connection},
		{"the network stalls", f.toxic("timeout"), store.Connection},
		{"the network resets connections", f.toxic("reset_peer"), store.Connection},
		{"deadlocks", f.raise("40P01", 0.2), store.Deadlock},
		{"serialization failures", f.raise("40001", 0.2), store.Serialization},
		{"a full disk", f.raise("53100", 1), store.Resource},
	} {
		t.Run(c.why, func(t *testing.T) {
			o := options(t, f.store)
			o.Driver.Run = 0 // until stopped
			o.Driver.MaxRetries = 1000
			run := begin(t, o)
			happened := make(chan error, 1)
			s := recorded(t, run, func() {
				moreOrders(t, run, 20)
				happened <- c.fault(t.Context(), func() { await(t, meets(run, c.class)) })
				moreOrders(t, run, 50)
				switch c.class {
				case store.Resource: // nobody still waits before the next try, for 5 s at most
					later(t, run, 5*time.Second)
				case store.Connection:
					allBack(t, run)
				}
			})
			require.NoError(t, <-happened)
			inDoubt, customers := ds2counts.Of(s.Counts, ds2counts.InDoubtPurchases), ds2counts.InDoubtCustomers
			t.Logf("errors %v, %d reconnects, in doubt %d purchases, %d customers", s.Errors, s.Counts.Reconnects,
				inDoubt, ds2counts.Of(s.Counts, customers))
			met := func(e measure.FailureCount) bool { return e.Class == string(c.class) && e.Count > 0 }
			assert.True(t, slices.ContainsFunc(s.Errors, met), "want some of class %s", c.class)
			assert.Equal(t, inDoubt, s.Counts.GivenUp, "no other order is lost")
			audit, _ := audited(t, run)
			assert.True(t, audit.Passed, "%+v", audit.Checks)
		})
	}
}

// meets tells whether a run has met a fault: it has counted a failure, or no order was acknowledged for two seconds,
// since what a user counts is told at an order's end.
func meets(run *Run, class store.Class) func() bool {
	var orders int64
	var since time.Duration
	return func() bool {
		totals, now := run.Meter().Totals()[0], run.Meter().Progress().Last.End
		if totals.Counts.Orders != orders {
			orders, since = totals.Counts.Orders, now
		}
		for failure := range totals.Errors {
			if failure.Class == string(class) {
				return true
			}
		}
		stops := class == store.Connection || class == store.Resource
		return stops && since > 0 && now >= since+2*time.Second
	}
}

package experiment

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

	"ds2/internal/localpg"
	"ds2/internal/measure"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	ds2counts "ds2/internal/workload/ds2/counts"
)

// faulty is a server that a run reaches through a proxy.
type faulty struct {
	*localpg.Server
	db    *sql.DB // past the proxy
	proxy *toxiproxy.Proxy
	store store.Store // through the proxy
}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	server, s := loaded(t, localpg.Options{Settings: map[string]string{"max_connections": "25"}})
	target, err := url.Parse(server.URL("ds2"))
	if err != nil {
		t.Fatal(err)
	}
	log := zerolog.Nop()
	proxy := toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), log), "ds2", "127.0.0.1:0", target.Host)
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Stop)
	target.Host = proxy.Listen
	through, err := postgres.Open(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { through.Close() })
	return &faulty{server, s.DB(), proxy, through}
}

// toxic spoils what the server sends, for a time.
func (f *faulty) toxic(ctx context.Context, kind string, d time.Duration) error {
	_, err := f.proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(`{"name": "t", "type": %q, "stream": "downstream", "attributes": {"timeout": 0}}`, kind)))
	if err != nil {
		return err
	}
	time.Sleep(d)
	return f.proxy.Toxics.RemoveToxic(ctx, "t")
}

// raise lets a share of the calls of browse_by_category fail with an SQLSTATE, for a time.
func (f *faulty) raise(ctx context.Context, state string, share float64, d time.Duration) error {
	var original string
	if err := f.db.QueryRowContext(ctx, "SELECT pg_get_functiondef('ds2_browse_by_category'::regproc)").Scan(&original); err != nil {
		return err
	}
	_, err := f.db.ExecContext(ctx, fmt.Sprintf(`CREATE OR REPLACE FUNCTION ds2_browse_by_category(batch_size_in integer, category_in smallint)
		RETURNS SETOF products LANGUAGE plpgsql AS $$ BEGIN
			IF random() < %g THEN RAISE EXCEPTION 'as the test wants it' USING ERRCODE = '%s'; END IF;
		END $$`, share, state))
	if err != nil {
		return err
	}
	time.Sleep(d)
	_, err = f.db.ExecContext(ctx, original)
	return err
}

// smallDisk puts the order lines on a file system of 64 MB, and gives what fills it up until the server notices, and a little
// longer. Where the test may not mount one, that is what a full disk makes the server say.
func (f *faulty) smallDisk(t *testing.T) (fill func(context.Context) error) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ds2-small-disk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	data, err := os.Stat(f.DataDir())
	if err != nil {
		t.Fatal(err)
	}
	owner := data.Sys().(*syscall.Stat_t)
	if err := syscall.Mount("ds2", dir, "tmpfs", 0, fmt.Sprintf("size=64m,mode=700,uid=%d,gid=%d", owner.Uid, owner.Gid)); errors.Is(err, syscall.EPERM) {
		t.Run("a real small disk", func(t *testing.T) {
			t.Skipf("this test may not mount one, so the server is only made to say that its disk is full: %v", err)
		})
		return func(ctx context.Context) error { return f.raise(ctx, "53100", 1, time.Second) }
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, 0) })
	statements := func(all ...string) {
		for _, statement := range all {
			if _, err := f.db.Exec(statement); err != nil {
				t.Errorf("%s: %v", statement, err)
			}
		}
	}
	statements("CREATE TABLESPACE small LOCATION '"+dir+"'", "ALTER TABLE orderlines SET TABLESPACE small")
	t.Cleanup(func() { statements("ALTER TABLE orderlines SET TABLESPACE pg_default", "DROP TABLESPACE small") })
	return func(context.Context) error {
		ballast := filepath.Join(dir, "ballast")
		defer os.Remove(ballast)
		if err := os.WriteFile(ballast, make([]byte, 64<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
			return fmt.Errorf("filling the disk up: %w", err)
		}
		// The table's free space takes order lines for a while.
		for until := time.Now().Add(6 * time.Second); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
			said, err := os.ReadFile(f.LogFile())
			if err != nil {
				return err
			}
			if strings.Contains(strings.ToLower(string(said)), syscall.ENOSPC.Error()) {
				break
			}
		}
		time.Sleep(500 * time.Millisecond)
		return nil
	}
}

// killBackends ends some sessions of the run.
func (f *faulty) killBackends(ctx context.Context, n int) error {
	_, err := f.db.ExecContext(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'ds2' AND pid <> pg_backend_pid() ORDER BY random() LIMIT $1", n)
	return err
}

// occupy takes every connection that the server has, those of the run among them, for a time.
func (f *faulty) occupy(ctx context.Context, d time.Duration) error {
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
	takeAll() // first those that are free, so that a slow machine has only the run's to take while the time runs
	for until := time.Now().Add(d); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if _, err := admin.ExecContext(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ds2' AND pid <> pg_backend_pid()"); err != nil {
			return err
		}
		takeAll()
	}
	return nil
}

// TestFaults has runs go on through faults of the server and of the network: no order is lost but those in doubt, each
// failure is counted under its class, and the database holds what the run says.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than a minute")
	}
	f := newFaulty(t)
	fill := f.smallDisk(t)
	for _, c := range []struct {
		why   string
		fault func(context.Context) error
		class store.Class // that must be seen
	}{
		{"the server restarts", f.Restart, store.Connection},
		{"the server is killed, and comes back", func(ctx context.Context) error {
			f.Kill()
			time.Sleep(time.Second)
			return f.Restart(ctx)
		}, store.Connection},
		{"backends are killed", func(ctx context.Context) error {
			for range 10 {
				if err := f.killBackends(ctx, 2); err != nil {
					return err
				}
				time.Sleep(200 * time.Millisecond)
			}
			return nil
		}, store.Connection},
		{"the network stalls", func(ctx context.Context) error { return f.toxic(ctx, "timeout", 2500*time.Millisecond) }, store.Connection},
		{"the network resets connections", func(ctx context.Context) error { return f.toxic(ctx, "reset_peer", 500*time.Millisecond) }, store.Connection},
		{"deadlocks", func(ctx context.Context) error { return f.raise(ctx, "40P01", 0.2, time.Second) }, store.Deadlock},
		{"serialization failures", func(ctx context.Context) error { return f.raise(ctx, "40001", 0.2, time.Second) }, store.Serialization},
		{"a full disk", fill, store.Resource},
		{"too few connections", func(ctx context.Context) error { return f.occupy(ctx, 3*time.Second) }, store.Resource},
	} {
		t.Run(c.why, func(t *testing.T) {
			o := options(t, f.store)
			o.Driver.OperationTimeout = time.Second
			if c.class == store.Connection || c.class == store.Resource {
				o.Driver.Run = 10 * time.Second // a server needs a while to come back, and to be full
			}
			started := make(chan struct{})
			o.Driver.Started = func(time.Time) { close(started) }
			run, err := Begin(o)
			if err != nil {
				t.Fatal(err)
			}
			happened := make(chan error, 1)
			go func() {
				<-started
				time.Sleep(1500 * time.Millisecond)
				happened <- c.fault(t.Context())
			}()
			summary, err := drive(t, run)
			if faultErr := <-happened; faultErr != nil {
				t.Fatal(faultErr)
			}
			if err != nil {
				t.Fatalf("Drive = %v, want the run to go on", err)
			}
			n := summary.Counts
			seen := func(e measure.FailureCount) bool { return e.Class == string(c.class) && e.Count > 0 }
			if !slices.ContainsFunc(summary.Errors, seen) {
				t.Errorf("errors %v, want some of class %s", summary.Errors, c.class)
			}
			if c.class == store.Connection && n.Reconnects == 0 || n.GivenUp != ds2counts.Of(n, ds2counts.InDoubtPurchases) {
				t.Errorf("%d reconnects, %d orders given up, %d in doubt; want no other lost", n.Reconnects, n.GivenUp, ds2counts.Of(n, ds2counts.InDoubtPurchases))
			}
			if last := summary.Windows[0]; last.Counts.Orders == 0 {
				t.Error("no orders")
			}
			series, err := result.ReadSeries(run.options.Dir)
			if err != nil {
				t.Fatal(err)
			}
			samples := series.Samples
			if after := samples[len(samples)-2]; after.Counts.Orders == 0 {
				t.Errorf("no orders in the last second of the run: %+v", after)
			}
			audit, err := run.Audit(t.Context(), progress.Ignore)
			if err != nil {
				t.Fatal(err)
			}
			for _, check := range audit.Checks {
				if !check.Passed {
					t.Errorf("check failed: %+v", check)
				}
			}
			t.Logf("errors %v, %d reconnects, in doubt %d purchases, %d customers", summary.Errors, n.Reconnects, ds2counts.Of(n, ds2counts.InDoubtPurchases), ds2counts.Of(n, ds2counts.InDoubtCustomers))
		})
	}
}

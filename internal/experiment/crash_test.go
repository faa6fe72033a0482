package experiment

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ds2/datagen"
	"ds2/internal/driver"
	"ds2/internal/load"
	"ds2/internal/localpg"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/workload"
)

// crashable is a server of one's own, for Crash.
type crashable struct{ *localpg.Server }

func (c crashable) Kill(context.Context) error {
	c.Server.Kill()
	return nil
}

func (c crashable) Start(ctx context.Context) error { return c.Restart(ctx) }

// loaded starts a server with settings, and loads a small dataset into it.
func loaded(t *testing.T, settings map[string]string) (*localpg.Server, store.Store) {
	t.Helper()
	server, err := localpg.Start(t.Context(), localpg.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop() })
	target, err := url.Parse(server.URL("ds2"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Open(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	data, err := datagen.New(datagen.S, datagen.DefaultWords(), datagen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = load.Run(t.Context(), s.(load.Engine), load.Options{
		Size: datagen.S, Name: "S", Words: datagen.DefaultWords().Sum(), Parts: data.Parts(), AtOnce: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	return server, s
}

// options are a run of four users for eight seconds.
func options(t *testing.T, s store.Store) Options {
	return Options{
		Dir: filepath.Join(t.TempDir(), "record"), RunID: "test", Version: "test",
		Driver: driver.Config{
			Workload: workload.Config{Size: datagen.S, Words: datagen.DefaultWords(), PctNewCustomers: 20, Searches: 3, SearchBatchSize: 5, LineItems: 5},
			Targets:  []store.Store{s}, Threads: 4, Seed: 1, RampRate: 100, Run: 8 * time.Second, Drain: 10 * time.Second,
			MaxRetries: 20, MaxErrors: 100, OperationTimeout: 10 * time.Second,
		},
	}
}

// TestCrash kills a server in mid-run. One that flushes what it acknowledges loses nothing; one that is told to
// acknowledge first loses what it held in memory, as a drive with a lying cache does, and the audit names it.
func TestCrash(t *testing.T) {
	for _, c := range []struct {
		why      string
		settings map[string]string
		loses    bool
	}{
		{"commits are flushed", nil, false},
		{"commits are acknowledged before they are written", map[string]string{
			"synchronous_commit": "off", "wal_writer_delay": "10s", "wal_writer_flush_after": "100000", "wal_buffers": "64MB"}, true},
	} {
		t.Run(c.why, func(t *testing.T) {
			server, s := loaded(t, c.settings)
			o := options(t, s)
			o.Crash = &Crash{After: 3 * time.Second, Server: crashable{server}}
			run, err := Begin(o)
			if err != nil {
				t.Fatal(err)
			}
			summary, err := run.Drive(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if summary.Crash == nil || summary.Crash.Down <= 0 || summary.Counts.Reconnects < 4 {
				t.Fatalf("crash %+v, %d reconnects", summary.Crash, summary.Counts.Reconnects)
			}
			audit, err := run.Audit(t.Context(), func(result.Check) {})
			if err != nil {
				t.Fatal(err)
			}
			checks := map[string]result.Check{}
			for _, check := range audit.Checks {
				checks[check.Name] = check
				if !c.loses && !check.Passed {
					t.Errorf("check failed: %+v", check)
				}
			}
			lost := checks["acknowledged purchases that were lost"]
			t.Logf("down %.2f s, %d orders, %d in doubt; lost %.80s", summary.Crash.Down, summary.Counts.Orders, summary.Counts.InDoubtPurchases, lost.Found)
			if c.loses && (lost.Passed || audit.Passed || !strings.Contains(lost.Found, ": orders 12")) {
				t.Errorf("lost %+v, want order numbers above 12000", lost)
			}
			if wholeness := checks["orders without lines"]; !wholeness.Passed {
				t.Errorf("orders are there in part: %+v", wholeness)
			}
		})
	}
}

func TestCrashAfterTheEnd(t *testing.T) {
	server, s := loaded(t, nil)
	o := options(t, s)
	o.Driver.Run = time.Second
	o.Crash = &Crash{After: time.Hour, Server: crashable{server}}
	run, err := Begin(o)
	if err != nil {
		t.Fatal(err)
	}
	summary, err := run.Drive(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "before the crash") || summary.Status != result.Failed || summary.Crash != nil {
		t.Errorf("Drive = %v, status %s", err, summary.Status)
	}
}

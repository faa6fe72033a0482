package runs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/driver"
	"ds2/internal/durability"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/monitor"
	"ds2/internal/nightly"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/storetest"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/calls"
	ds2counts "ds2/internal/workload/ds2/counts"
	ds2loaded "ds2/internal/workload/ds2/loaded"
	ds2postgres "ds2/internal/workload/ds2/postgres"
)

// crashable is a server of one's own, for Crash, with a fault that shows at the kill.
type crashable struct {
	*localpg.Server
	fault func(kill func()) error
}

func (c crashable) Kill(context.Context) error { return c.fault(c.Server.Kill) }

func (c crashable) Start(ctx context.Context) error { return c.Restart(ctx) }

// none is no fault.
func none(kill func()) error {
	kill()
	return nil
}

// idleWriter stops the process that writes out, a moment later, what synchronous_commit = off has acknowledged already.
func idleWriter(db *sql.DB) func(kill func()) error {
	return func(kill func()) error {
		var pid int
		if err := db.QueryRow("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'").Scan(&pid); err != nil {
			return err
		}
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return err
		}
		if err := awaitLog(db, "pg_current_wal_flush_lsn()", "pg_current_wal_insert_lsn()"); err != nil {
			return err
		}
		kill()
		return nil
	}
}

// awaitLog waits until enough of the log lies between two of its places to hold some commits. The first may be a place
// of before.
func awaitLog(db *sql.DB, from, to string) error {
	for {
		var enough bool
		if err := db.QueryRow("SELECT " + to + " - " + from + " > 200000").Scan(&enough); err != nil || enough {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// lyingDrive forgets what the server wrote to its log and flushed in the last moment before the kill.
func lyingDrive(db *sql.DB, dataDir string) func(kill func()) error {
	return func(kill func()) error {
		var segment, place string
		var kept int64
		for begins := false; !begins; { // nor may the place where recovery begins be lost
			if err := db.QueryRow("SELECT lsn::text, (pg_walfile_name_offset(lsn)).* FROM pg_current_wal_flush_lsn() lsn").Scan(&place, &segment, &kept); err != nil {
				return err
			}
			if err := awaitLog(db, "'"+place+"'", "pg_current_wal_flush_lsn()"); err != nil {
				return err
			}
			if err := db.QueryRow("SELECT checkpoint_lsn < $1::text::pg_lsn FROM pg_control_checkpoint()", place).Scan(&begins); err != nil {
				return err
			}
		}
		kill()
		log, err := filepath.Glob(filepath.Join(dataDir, "pg_wal", "????????????????????????"))
		if err != nil {
			return err
		}
		for _, file := range log {
			switch name := filepath.Base(file); {
			case name == segment:
				if err = os.Truncate(file, kept); err == nil {
					err = os.Truncate(file, 16<<20) // with zeros where the rest was
				}
			case name > segment:
				err = os.Remove(file)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// loaded starts a server with settings, and loads a small dataset into it.
func loaded(t *testing.T, o localpg.Options) (*localpg.Server, store.Database) {
	t.Helper()
	return loadedSize(t, o, storetest.Size) // whose stock has more pages than a moment writes
}

func loadedSize(t *testing.T, o localpg.Options, size datagen.Size) (*localpg.Server, store.Database) {
	t.Helper()
	server := pgtest.Start(t, o)
	s := pgtest.Open(t, postgres.Open, server.URL("ds2"))
	storetest.Load(t, s, size)
	return server, s
}

// options are a run of four users for six seconds, who think, and so leave the processors to the tests beside it.
func options(t *testing.T, s store.Database) Options {
	t.Helper()
	info, err := store.ReadInfo(t.Context(), s.DB())
	require.NoError(t, err)
	size, _, err := ds2loaded.Rows(info)
	require.NoError(t, err)
	return Options{
		Dir: filepath.Join(t.TempDir(), "record"), RunID: "test", Version: "test",
		Targets: []store.Database{s},
		Plan: &ds2.Plan{
			Config:  ds2.Config{Size: size, Words: datagen.DefaultWords(), PctNewCustomers: 20, Searches: 3, SearchBatchSize: 5, LineItems: 5},
			Targets: []ds2.Target{func(ctx context.Context) (calls.Session, error) { return ds2postgres.Connect(ctx, s) }},
			Engines: calls.Engines{postgres.Engine: ds2postgres.Connect},
		},
		Driver: driver.Config{
			Threads: 4, Seed: 1, RampRate: 100, Think: 40 * time.Millisecond, Run: 6 * time.Second, Drain: 10 * time.Second,
			MaxRetries: 20, MaxErrors: 100, OperationTimeout: 10 * time.Second,
		},
	}
}

// observe has what can be observed of a run sampled beside it.
func observe(t *testing.T, o *Options, how monitor.Options) {
	t.Helper()
	var err error
	o.Observer, err = monitor.Observe(t.Context(), o.Targets, o.Driver.Run, how)
	require.NoError(t, err)
}

func begin(t *testing.T, o Options) *Run {
	t.Helper()
	run, err := Begin(o)
	require.NoError(t, err)
	return run
}

// driven drives a run to its good end.
func driven(t *testing.T, run *Run) result.Summary {
	t.Helper()
	s, err := drive(t, run)
	require.NoError(t, err)
	return s
}

// drive drives a run; the error is why it is not done.
func drive(t *testing.T, run *Run) (result.Summary, error) {
	t.Helper()
	s, outcome := run.Drive(t.Context(), t.Context())
	return s, outcome.Err
}

// TestCrash kills a server in mid-run. One that keeps what it acknowledges loses nothing; what the others lose is
// named.
func TestCrash(t *testing.T) {
	t.Parallel()
	nightly.Long(t, "takes half a minute")
	for _, c := range []struct {
		why      string
		settings map[string]string
		fault    func(*localpg.Server, store.Database) func(kill func()) error
		loses    bool
	}{
		{"commits are flushed", nil,
			func(*localpg.Server, store.Database) func(func()) error { return none }, false},
		{"commits are acknowledged before they are written", map[string]string{"synchronous_commit": "off", "wal_buffers": "64MB"},
			func(_ *localpg.Server, s store.Database) func(func()) error { return idleWriter(s.DB()) }, true},
		{"the drive lies about what it holds", map[string]string{"shared_buffers": "512MB", "bgwriter_lru_maxpages": "0", "autovacuum": "off"},
			func(l *localpg.Server, s store.Database) func(func()) error { return lyingDrive(s.DB(), l.DataDir()) }, true},
		{"nothing is flushed at all, and the power is cut", map[string]string{"fsync": "off", "shared_buffers": "512MB", "bgwriter_lru_maxpages": "0", "autovacuum": "off"},
			func(l *localpg.Server, s store.Database) func(func()) error { return lyingDrive(s.DB(), l.DataDir()) }, true},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			server, s := loaded(t, localpg.Options{Settings: c.settings})
			o := options(t, s)
			o.Driver.Run = 0 // until stopped
			o.Crash = &durability.Plan{After: 2 * time.Second, Server: crashable{server, c.fault(server, s)}}
			run := begin(t, o)
			summary, err := driveUntil(t, run, func() { allBack(t.Context(), run) })
			require.NoError(t, err)
			if summary.Crash == nil || summary.Crash.Down <= 0 || summary.Counts.Reconnects == 0 {
				t.Fatalf("crash %+v, %d reconnects", summary.Crash, summary.Counts.Reconnects)
			}
			audit, err := run.Audit(t.Context(), progress.Ignore)
			require.NoError(t, err)
			checks := map[string]result.Check{}
			for _, check := range audit.Checks {
				checks[check.Name] = check
				assert.True(t, c.loses || check.Passed, "check failed: %+v", check)
			}
			lost := checks["acknowledged purchases that were lost"]
			t.Logf("down %.2f s, %d orders, %d in doubt; lost %.80s", summary.Crash.Down, summary.Counts.Orders, ds2counts.Of(summary.Counts, ds2counts.InDoubtPurchases), lost.Found)
			if c.loses && (lost.Passed || audit.Passed || !strings.Contains(lost.Found, ": orders ")) {
				t.Errorf("lost %+v, want orders by number", lost)
			}
			if wholeness := checks["orders without lines"]; !wholeness.Passed {
				t.Errorf("orders are there in part: %+v", wholeness)
			}
		})
	}
}

// staleDrive holds what it acknowledged of every file but the stock's: that is as it was when staleDrive was called,
// though the server brought it to the drive before the kill.
func staleDrive(t *testing.T, db *sql.DB, dataDir string) func(kill func()) error {
	t.Helper()
	var path string
	pgtest.Exec(t, db, "CHECKPOINT")
	require.NoError(t, db.QueryRow("SELECT pg_relation_filepath('inventory')").Scan(&path))
	path = filepath.Join(dataDir, path)
	old, err := os.ReadFile(path)
	require.NoError(t, err)
	return func(kill func()) error {
		if _, err := db.Exec("CHECKPOINT"); err != nil {
			return err
		}
		kill()
		return os.WriteFile(path, old, 0o600)
	}
}

// TestCuts cuts a server off several times. What is lost, and what is old, is found after the cut that did it.
func TestCuts(t *testing.T) {
	t.Parallel()
	nightly.Long(t, "takes half a minute")
	quiet := map[string]string{"shared_buffers": "512MB", "bgwriter_lru_maxpages": "0", "autovacuum": "off"}
	for _, c := range []struct {
		why      string
		settings map[string]string
		fault    func(*testing.T, *localpg.Server, store.Database) func(kill func()) error // at the second of three cuts
		loses    func(result.Cut) bool
	}{
		{"nothing is lost", nil, func(*testing.T, *localpg.Server, store.Database) func(func()) error { return none }, nil},
		{"the drive lies about what it holds", quiet,
			func(_ *testing.T, l *localpg.Server, s store.Database) func(func()) error {
				return lyingDrive(s.DB(), l.DataDir())
			},
			func(cut result.Cut) bool { return cut.Lost > 0 && cut.LostWhat != "" && cut.Stale > 0 }},
		{"the drive gives back an older state of a file", quiet,
			func(t *testing.T, l *localpg.Server, s store.Database) func(func()) error {
				return staleDrive(t, s.DB(), l.DataDir())
			},
			func(cut result.Cut) bool { return cut.Lost == 0 && cut.Stale > 0 && cut.StaleWhat != "" }},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			server, s := loaded(t, localpg.Options{Settings: c.settings, Checksums: true})
			o := options(t, s)
			o.Driver.Run = 0 // until the last cut
			cuts, fault := 0, c.fault(t, server, s)
			var run *Run
			var err error
			o.Crash = &durability.Plan{After: time.Second, Cycles: 3, Seed: 2, DeepEvery: 3, Recovery: time.Minute,
				Server: crashable{server, func(kill func()) error {
					moreOrders(t.Context(), run, 5)
					if cuts++; cuts == 2 {
						return fault(kill)
					}
					return none(kill)
				}}}
			run = begin(t, o)
			summary, err := drive(t, run)
			if err != nil || summary.Status != result.Done || summary.Cuts == nil || len(summary.Cuts.Cuts) != 3 {
				t.Fatalf("Drive = %v, status %s, cuts %+v", err, summary.Status, summary.Cuts)
			}
			acknowledged := int64(0)
			for i, cut := range summary.Cuts.Cuts {
				t.Logf("%.300s", fmt.Sprintf("%+v", cut))
				acknowledged += cut.Acknowledged
				if cut.Acknowledged == 0 || cut.Recovery <= 0 || cut.Down < cut.Recovery || cut.Kept > cut.InDoubt || (cut.BadPages != nil) != (i == 2) {
					t.Errorf("cut %d: %+v", i+1, cut)
				}
				switch lossy := i == 1 && c.loses != nil; {
				case lossy && !c.loses(cut):
					t.Errorf("cut %d: the fault was not found: %+v", i+1, cut)
				case !lossy && cut.Lossy():
					t.Errorf("cut %d without a fault lost something: %+v", i+1, cut)
				}
			}
			if last := ds2counts.Of(summary.Counts, ds2counts.Purchases) - ds2counts.Of(summary.Counts, ds2counts.Rollbacks) - acknowledged; acknowledged != summary.Cuts.Acknowledged || last < 0 {
				t.Errorf("%d acknowledged by the cuts, of %+v", acknowledged, summary.Counts)
			}
			audit, err := run.Audit(t.Context(), progress.Ignore)
			assert.True(t, err == nil && audit.Passed == (c.loses == nil), "audit %+v, %v", audit, err)
		})
	}
}

func TestCrashAfterTheEnd(t *testing.T) {
	t.Parallel()
	server, s := loaded(t, localpg.Options{})
	o := options(t, s)
	o.Driver.Run = time.Second
	o.Crash = &durability.Plan{After: time.Hour, Server: crashable{server, none}}
	run := begin(t, o)
	summary, err := drive(t, run)
	if err == nil || !strings.Contains(err.Error(), "before the server was cut off") || summary.Status != result.Failed || summary.Crash != nil {
		t.Errorf("Drive = %v, status %s", err, summary.Status)
	}

	// A server that is down at the end is waited for, and the run says so.
	server.Kill()
	marked := make(chan error, 1)
	go func() {
		_, err := run.marks(t.Context(), t.Context(), true)
		marked <- err
	}()
	for run.Doing() == "" && len(marked) == 0 {
		time.Sleep(20 * time.Millisecond)
	}
	require.Regexp(t, `^the server does not answer; waiting for it until \d\d:\d\d:\d\d \(.+\)$`, run.Doing())
	require.NoError(t, server.Restart(t.Context()))
	<-marked // a busy machine may be too slow for it
	require.Empty(t, run.Doing())
}

// asked is a workload that counts how often it is asked what a target holds.
type asked struct {
	*ds2.Plan
	marks *int
}

func (a asked) Workload() workload.Workload {
	return countingMarks{a.Plan.Workload().(ds2.Workload), a.marks}
}

type countingMarks struct {
	ds2.Workload
	marks *int
}

func (w countingMarks) Mark(ctx context.Context, s store.Database, after bool) (result.Marks, error) {
	*w.marks++
	return w.Workload.Mark(ctx, s, after)
}

// failingStart is a server that is not started again.
type failingStart struct{ crashable }

var errStart = errors.New("no disk")

func (failingStart) Start(context.Context) error { return errStart }

// TestStartThatFails: nobody waits for a server that could not be started again.
func TestStartThatFails(t *testing.T) {
	t.Parallel()
	server, s := loaded(t, localpg.Options{})
	for _, cycles := range []int{0, 2} {
		t.Run(fmt.Sprint(cycles, " cycles"), func(t *testing.T) {
			o, marks := options(t, s), 0
			o.Plan = asked{o.Plan.(*ds2.Plan), &marks}
			o.Crash = &durability.Plan{After: 200 * time.Millisecond, Cycles: cycles, Server: failingStart{crashable{server, none}}}
			run := begin(t, o)
			summary, err := drive(t, run)
			require.ErrorIs(t, err, errStart)
			require.Equal(t, result.Failed, summary.Status)
			require.Equal(t, 2, marks, "times that the server was asked what it holds: once before, once after")
			require.NoError(t, server.Restart(t.Context()))
		})
	}
}

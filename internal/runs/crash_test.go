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

	"ds2/internal/durability"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2"
	ds2counts "ds2/internal/workload/ds2/counts"
)

// crashable is a server of one's own, for Crash, with a fault that shows at the kill.
type crashable struct {
	*localpg.Server
	fault func(kill func()) error
}

func (c crashable) Kill(context.Context) error { return c.fault(c.Server.Kill) }

func (c crashable) Start(ctx context.Context) error { return c.Restart(ctx) }

// killed is no fault.
func killed(kill func()) error {
	kill()
	return nil
}

// quiet are settings of a server that writes out nothing by itself, and others.
func quiet(others ...string) map[string]string {
	all := map[string]string{"shared_buffers": "512MB", "bgwriter_lru_maxpages": "0", "autovacuum": "off"}
	for i := 0; i < len(others); i += 2 {
		all[others[i]] = others[i+1]
	}
	return all
}

// faulting makes the fault of a server.
type faulting = func(*testing.T, *localpg.Server, *sql.DB) func(kill func()) error

func noFault(*testing.T, *localpg.Server, *sql.DB) func(kill func()) error { return killed }

// idleWriter stops the process that writes out, a moment later, what synchronous_commit = off has acknowledged already.
func idleWriter(_ *testing.T, _ *localpg.Server, db *sql.DB) func(kill func()) error {
	return func(kill func()) error {
		var pid int
		const writer = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'"
		if err := db.QueryRow(writer).Scan(&pid); err != nil {
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
func lyingDrive(_ *testing.T, server *localpg.Server, db *sql.DB) func(kill func()) error {
	return func(kill func()) error {
		var segment, place string
		var kept int64
		for begins := false; !begins; { // nor may the place where recovery begins be lost
			const flushed = "SELECT lsn::text, (pg_walfile_name_offset(lsn)).* FROM pg_current_wal_flush_lsn() lsn"
			if err := db.QueryRow(flushed).Scan(&place, &segment, &kept); err != nil {
				return err
			}
			if err := awaitLog(db, "'"+place+"'", "pg_current_wal_flush_lsn()"); err != nil {
				return err
			}
			const checkpointed = "SELECT checkpoint_lsn < $1::text::pg_lsn FROM pg_control_checkpoint()"
			if err := db.QueryRow(checkpointed, place).Scan(&begins); err != nil {
				return err
			}
		}
		kill()
		log, err := filepath.Glob(filepath.Join(server.DataDir(), "pg_wal", "????????????????????????"))
		for _, file := range log {
			switch name := filepath.Base(file); {
			case name == segment: // with zeros where the rest was
				err = errors.Join(err, os.Truncate(file, kept), os.Truncate(file, 16<<20))
			case name > segment:
				err = errors.Join(err, os.Remove(file))
			}
		}
		return err
	}
}

// staleDrive holds what it acknowledged of every file but the stock's: that is as it was when staleDrive was called,
// though the server brought it to the drive before the kill.
func staleDrive(t *testing.T, server *localpg.Server, db *sql.DB) func(kill func()) error {
	t.Helper()
	var path string
	pgtest.Exec(t, db, "CHECKPOINT")
	require.NoError(t, db.QueryRow("SELECT pg_relation_filepath('inventory')").Scan(&path))
	path = filepath.Join(server.DataDir(), path)
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

// cutOff drives a run whose server is cut off so many times, each amid orders, or once where that is 0. The fault shows
// at the second cut, or at the one there is.
func cutOff(t *testing.T, server *localpg.Server, o Options, cycles int, faulting faulting) (*Run, *result.Record) {
	t.Helper()
	var run *Run
	fault, cuts := faulting(t, server, o.Targets[0].DB()), 0
	o.Driver.Run = 0 // until the last cut, or until all are back after the one
	o.Crash = &durability.Plan{
		After: time.Second, Cycles: cycles, Seed: 2, DeepEvery: 3, Recovery: time.Minute,
		Server: crashable{server, func(kill func()) error {
			moreOrders(t, run, 5)
			if cuts++; cuts == max(min(cycles, 2), 1) {
				return fault(kill)
			}
			return killed(kill)
		}},
	}
	run = begin(t, o)
	var until func()
	if cycles == 0 {
		until = func() { allBack(t, run) }
	}
	r := recorded(t, run, until)
	require.Equal(t, result.Done, r.Status)
	assert.NotZero(t, r.Counts.Reconnects, "errors %+v", r.Errors)
	return run, r
}

// TestCuts cuts a server off. One that keeps what it acknowledges loses nothing; what the others lose, and what is old,
// is found after the cut that did it, or by the journal after the run, by its numbers.
func TestCuts(t *testing.T) {
	t.Parallel()
	nightly.Long(t, "takes half a minute")
	for _, c := range []struct {
		why         string
		cycles      int
		settings    map[string]string
		fault       faulting
		lost, stale bool
	}{
		{"one cut, and commits are flushed", 0, nil, noFault, false, false},
		{"one cut, and commits are acknowledged before they are written", 0,
			map[string]string{"synchronous_commit": "off", "wal_buffers": "64MB"}, idleWriter, true, false},
		{"one cut of the power, and nothing is flushed at all", 0, quiet("fsync", "off"), lyingDrive, true, false},
		{"nothing is lost", 3, nil, noFault, false, false},
		{"the drive lies about what it holds", 3, quiet(), lyingDrive, true, true},
		{"the drive gives back an older state of a file", 3, quiet(), staleDrive, false, true},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			server, o := ready(t, localpg.Options{Settings: c.settings, Checksums: true})
			run, s := cutOff(t, server, o, c.cycles, c.fault)
			audit, checks := audited(t, run)
			assert.Equal(t, !c.lost && !c.stale, audit.Passed, "%+v", audit)
			assert.True(t, checks["orders without lines"].Passed, "orders are there in part: %+v", checks)
			if c.cycles == 0 {
				require.NotNil(t, s.Crash)
				require.Positive(t, s.Crash.Down)
				found := checks["acknowledged purchases that were lost"].Found
				assert.Equal(t, c.lost, strings.Contains(found, ": orders "), "orders by number: %.80s", found)
				return
			}
			require.NotNil(t, s.Cuts)
			require.Len(t, s.Cuts.Cuts, c.cycles)
			acknowledged := int64(0)
			for i, cut := range s.Cuts.Cuts {
				t.Logf("%.300s", fmt.Sprintf("%+v", cut))
				acknowledged += cut.Acknowledged
				if cut.Acknowledged == 0 || cut.Recovery <= 0 || cut.Down < cut.Recovery || cut.Kept > cut.InDoubt {
					t.Errorf("cut %d: %+v", i+1, cut)
				}
				assert.Equal(t, i == 2, cut.BadPages != nil)
				lost, stale := i == 1 && c.lost, i == 1 && c.stale
				assert.Equal(t, lost || stale, cut.Lossy(), "cut %d: %+v", i+1, cut)
				said := []bool{cut.Lost > 0, cut.LostWhat != "", cut.Stale > 0, cut.StaleWhat != ""}
				assert.Equal(t, []bool{lost, lost, stale, stale}, said, "cut %d: %+v", i+1, cut)
			}
			of := func(count int) int64 { return ds2counts.Of(s.Counts, count) }
			assert.Equal(t, acknowledged, s.Cuts.Acknowledged)
			assert.LessOrEqual(t, acknowledged, of(ds2counts.Purchases)-of(ds2counts.Rollbacks))
		})
	}
}

func TestCrashAfterTheEnd(t *testing.T) {
	t.Parallel()
	server, o := ready(t, localpg.Options{})
	o.Driver.Run = time.Second
	o.Crash = &durability.Plan{After: time.Hour, Server: crashable{server, killed}}
	run := begin(t, o)
	summary, err := drive(t, run, nil)
	require.ErrorContains(t, err, "before the server was cut off")
	require.Equal(t, result.Failed, summary.Status)
	require.Nil(t, summary.Crash)

	// A server that is down at the end is waited for, and the run says so.
	server.Kill()
	marked := make(chan error, 1)
	go func() {
		_, err := run.marks(t.Context(), t.Context(), true)
		marked <- err
	}()
	await(t, func() bool { return run.Doing() != "" || len(marked) > 0 })
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
	server, first := ready(t, localpg.Options{})
	for _, cycles := range []int{0, 2} {
		t.Run(fmt.Sprint(cycles, " cycles"), func(t *testing.T) {
			o, marks := options(t, first.Targets[0]), 0
			o.Plan = asked{o.Plan.(*ds2.Plan), &marks}
			o.Crash = &durability.Plan{
				After: 200 * time.Millisecond, Cycles: cycles, Server: failingStart{crashable{server, killed}},
			}
			summary, err := drive(t, begin(t, o), nil)
			require.ErrorIs(t, err, errStart)
			require.Equal(t, result.Failed, summary.Status)
			require.Equal(t, 2, marks, "times that the server was asked what it holds: once before, once after")
			require.NoError(t, server.Restart(t.Context()))
		})
	}
}

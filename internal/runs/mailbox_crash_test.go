package runs

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/driver"
	"ds2/internal/durability"
	"ds2/internal/load"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/workload"
	"ds2/internal/workload/mailbox"
	mailboxpostgres "ds2/internal/workload/mailbox/postgres"
)

// mailboxes starts a server with settings, loads a small mailbox database into it, and gives the options of a run on
// it, of which so many percent of the commits are lazy.
func mailboxes(t *testing.T, o localpg.Options, lazy, batch int) (*localpg.Server, Options) {
	t.Helper()
	server := pgtest.Start(t, o)
	s := pgtest.Open(t, postgres.Open, server.URL("ds2"))
	data := mailbox.Dataset{Size: mailbox.Size{Mailboxes: 10, MailboxBytes: 2 << 20}, Profile: "exchange2007sp1",
		Engines: map[string]mailbox.Engine{postgres.Engine: mailboxpostgres.Engine{}}}
	_, err := load.Run(t.Context(), s, load.Options{Dataset: data, AtOnce: 2})
	require.NoError(t, err)
	info, err := store.ReadInfo(t.Context(), s.DB())
	require.NoError(t, err)
	target, err := mailbox.Look(s, mailboxpostgres.Engine{}, info)
	require.NoError(t, err)
	profile, err := mailbox.FindProfile(data.Profile)
	require.NoError(t, err)
	profile.Mix.Lazy = lazy
	return server, Options{
		Dir: filepath.Join(t.TempDir(), "record"), RunID: "test", Version: "test",
		Targets: []store.Database{s},
		Plan:    &mailbox.Plan{Parameters: mailbox.Parameters{Profile: profile.Name, Mix: profile.Mix, Batch: batch}, Targets: []mailbox.Target{target}},
		Driver: driver.Config{
			Threads: 4, Seed: 1, RampRate: 100, Drain: 10 * time.Second,
			MaxRetries: 20, MaxErrors: 1, OperationTimeout: 10 * time.Second,
		},
	}
}

// TestMailboxCuts kills the server of a mailbox database, once and several times. What a lying drive loses of full
// commits is found at the cut that lost it; lazy commits whose log nobody wrote are counted, and the run goes on with
// what is there.
func TestMailboxCuts(t *testing.T) {
	t.Parallel()
	nightly.Long(t, "takes half a minute")
	quiet := map[string]string{"shared_buffers": "512MB", "bgwriter_lru_maxpages": "0", "autovacuum": "off", "wal_buffers": "64MB"}
	type fault = func(*localpg.Server, store.Database) func(kill func()) error
	lying := func(l *localpg.Server, s store.Database) func(func()) error { return lyingDrive(s.DB(), l.DataDir()) }
	idle := func(_ *localpg.Server, s store.Database) func(func()) error { return idleWriter(s.DB()) }
	for _, c := range []struct {
		why              string
		cycles           int // the fault comes at the second, or at the one there is
		lazy, batch      int
		fault            fault
		loses, losesLazy bool // full commits, lazy ones
	}{
		{"nothing is lost", 3, 55, 3, nil, false, false},
		{"one cut, and the drive lies", 0, 0, 1, lying, true, false},
		{"the drive lies", 2, 55, 2, lying, true, false},
		{"the log of lazy commits is not written", 2, 100, 2, idle, false, true},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			server, o := mailboxes(t, localpg.Options{Settings: quiet, Checksums: true}, c.lazy, c.batch)
			o.Driver.Think = 10 * time.Millisecond
			at, cuts := min(c.cycles, 2), 0
			var run *Run
			var err error
			o.Crash = &durability.Plan{After: time.Second, Cycles: c.cycles, Seed: 2, Recovery: time.Minute,
				Server: crashable{server, func(kill func()) error {
					moreOrders(t.Context(), run, 5)
					if cuts++; c.fault != nil && cuts == max(at, 1) {
						return c.fault(server, o.Targets[0])(kill)
					}
					return none(kill)
				}}}
			run = begin(t, o)
			var summary result.Summary
			if c.cycles == 0 {
				summary, err = driveUntil(t, run, func() { allBack(t.Context(), run) })
			} else {
				summary, err = drive(t, run) // until the last cut
			}
			if err != nil || summary.Status != result.Done || summary.Cuts == nil || len(summary.Cuts.Cuts) != max(c.cycles, 1) {
				t.Fatalf("Drive = %v, status %s, cuts %+v", err, summary.Status, summary.Cuts)
			}
			for i, cut := range summary.Cuts.Cuts {
				t.Logf("%.400s", fmt.Sprintf("%+v", cut))
				faulty := i == max(at, 1)-1
				switch {
				case cut.Acknowledged == 0 || cut.Recovery <= 0 || cut.Kept > cut.InDoubt:
					t.Errorf("cut %d: %+v", i+1, cut)
				case cut.Lossy() != (faulty && c.loses) || (cut.LostWhat != "") != cut.Lossy():
					t.Errorf("cut %d lost %d: %s", i+1, cut.Lost, cut.LostWhat)
				case faulty && c.losesLazy && cut.Own["lost_lazy"] == 0:
					t.Errorf("cut %d lost no lazy commit", i+1)
				}
			}
			// What a user still tried when the run ended is given up.
			if summary.Counts.GivenUp > int64(o.Driver.Threads) || summary.Counts.Reconnects == 0 {
				t.Errorf("%d given up, %d reconnects, errors %+v", summary.Counts.GivenUp, summary.Counts.Reconnects, summary.Errors)
			}
			audit, err := run.Audit(t.Context(), progress.Ignore)
			require.NoError(t, err)
			for _, check := range audit.Checks {
				t.Logf("%.300s", fmt.Sprintf("%+v", check))
				if what := strings.HasPrefix(check.Name, "writes that were lost") || strings.HasPrefix(check.Name, "cuts after"); check.Passed != (!what || !c.loses) {
					t.Errorf("%+v", check)
				}
			}
			if c.loses {
				return
			}
			// Commits that disappear after the run, without a cut, are found by the journal: more of them than can be
			// in doubt.
			if _, err := o.Targets[0].DB().Exec("DELETE FROM messages WHERE message_id IN (SELECT message_id FROM messages ORDER BY ctid DESC LIMIT 40)"); err != nil {
				t.Fatal(err)
			}
			lost := func() ([]result.Check, error) {
				w, paths := o.Plan.Workload().(workload.Acknowledger), []string{filepath.Join(o.Dir, durability.File)}
				return durability.Check(t.Context(), w, o.Targets[0], paths, 0, result.Marks{})
			}
			checks, err := lost()
			if err != nil || checks[0].Passed || !strings.Contains(checks[0].Found, ": records ") {
				t.Errorf("a record is gone: %+v, %v", checks, err)
			}
			// Nor do records without end take more than their share of time and memory.
			if _, err := o.Targets[0].DB().Exec("ALTER TABLE messages RENAME TO held; CREATE VIEW messages AS SELECT *, generate_series(1, 1e15) FROM held"); err != nil {
				t.Fatal(err)
			}
			_, err = lost()
			assert.ErrorContains(t, err, "sends more than", "endless records")
		})
	}
}

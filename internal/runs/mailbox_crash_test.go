package runs

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/durability"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/result"
	"ds2/internal/store/postgres"
	"ds2/internal/workload"
	"ds2/internal/workload/mailbox"
	"ds2/internal/workload/mailbox/mailboxtest"
	mailboxpostgres "ds2/internal/workload/mailbox/postgres"
)

// mailboxes starts a server with settings, loads a small mailbox database into it, and gives the options of a run on
// it, of which so many percent of the commits are lazy.
func mailboxes(t *testing.T, o localpg.Options, lazy, batch int) (*localpg.Server, Options) {
	t.Helper()
	server := pgtest.Start(t, o)
	s := pgtest.Open(t, postgres.Open, server.URL("ds2"))
	size := mailbox.Size{Mailboxes: 10, MailboxBytes: 2 << 20}
	target := mailboxtest.Load(t, s, mailboxpostgres.Engine{}, size)
	parameters, err := mailbox.FindProfile(target.Dataset.Profile)
	require.NoError(t, err)
	parameters.Lazy, parameters.Batch = lazy, batch
	options := optionsOf(t, s)
	options.Plan = &mailbox.Plan{Parameters: parameters, Targets: []mailbox.Target{target}}
	options.Driver.Think = 10 * time.Millisecond
	return server, options
}

// TestMailboxCuts kills the server of a mailbox database, once and several times. What a lying drive loses of full
// commits is found at the cut that lost it; lazy commits whose log nobody wrote are counted, and the run goes on with
// what is there.
func TestMailboxCuts(t *testing.T) {
	t.Parallel()
	nightly.Long(t, "takes half a minute")
	for _, c := range []struct {
		why              string
		cycles           int // the fault comes at the second, or at the one there is
		lazy, batch      int
		fault            faulting
		loses, losesLazy bool // full commits, lazy ones
	}{
		{"nothing is lost", 3, 55, 3, noFault, false, false},
		{"one cut, and the drive lies", 0, 0, 1, lyingDrive, true, false},
		{"the drive lies", 2, 55, 2, lyingDrive, true, false},
		{"the log of lazy commits is not written", 2, 100, 2, idleWriter, false, true},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			how := localpg.Options{Settings: quiet("wal_buffers", "64MB"), Checksums: true}
			server, o := mailboxes(t, how, c.lazy, c.batch)
			run, summary := cutOff(t, server, o, c.cycles, c.fault)
			require.NotNil(t, summary.Cuts)
			require.Len(t, summary.Cuts.Cuts, max(c.cycles, 1))
			for i, cut := range summary.Cuts.Cuts {
				t.Logf("%.400s", fmt.Sprintf("%+v", cut))
				faulty := i == max(min(c.cycles, 2), 1)-1
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
			assert.LessOrEqual(t, summary.Counts.GivenUp, int64(o.Driver.Threads))
			audit, _ := audited(t, run)
			for _, check := range audit.Checks {
				t.Logf("%.300s", fmt.Sprintf("%+v", check))
				of := func(what string) bool { return strings.HasPrefix(check.Name, what) }
				ofLoss := of("writes that were lost") || of("cuts after")
				assert.Equal(t, !(ofLoss && c.loses), check.Passed, "%+v", check)
			}
			if c.loses {
				return
			}
			// Commits that disappear after the run, without a cut, are found by the journal: more of them than can be
			// in doubt.
			db := o.Targets[0].DB()
			pgtest.Exec(t, db, "DELETE FROM messages WHERE message_id IN "+
				"(SELECT message_id FROM messages ORDER BY ctid DESC LIMIT 40)")
			lost := func() ([]result.Check, error) {
				w, paths := o.Plan.Workload().(workload.Acknowledger), []string{filepath.Join(o.Dir, durability.File)}
				return durability.Check(t.Context(), w, o.Targets[0], paths, 0, result.Marks{})
			}
			found, err := lost()
			require.NoError(t, err)
			assert.False(t, found[0].Passed, "a record is gone")
			assert.Contains(t, found[0].Found, ": records ")
			// Nor do records without end take more than their share of time and memory.
			pgtest.Exec(t, db, "ALTER TABLE messages RENAME TO held; "+
				"CREATE VIEW messages AS SELECT *, generate_series(1, 1e15) FROM held")
			_, err = lost()
			assert.ErrorContains(t, err, "sends more than", "endless records")
		})
	}
}

package mailbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"ds2/internal/load"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sqlservertest"
	"ds2/internal/store"
	storepostgres "ds2/internal/store/postgres"
	storesqlserver "ds2/internal/store/sqlserver"
	"ds2/internal/storetest"
	"ds2/internal/workload"
	"ds2/internal/workload/mailbox"
	"ds2/internal/workload/mailbox/postgres"
	"ds2/internal/workload/mailbox/sqlserver"
	"ds2/schema"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// engine is what is tested.
type engine struct {
	mailbox.Engine
	open     store.Opener
	database func(testing.TB) string // the URL of one that is the test's own and holds nothing
	lazy     bool                    // commits can be lazy
	// of memory, by the engine's driver, in a transaction that only writes: at most
	allocs    float64
	pagesRead func(*testing.T, store.Database) int64
	audited   func(*testing.T, store.Database)
}

var onPostgres = engine{
	postgres.Engine{},
	storepostgres.Open,
	pgtest.Database,
	true,
	0,
	pagesRead,
	audited,
}

// TestConformance runs what every engine's calls must do, on a real server.
func TestConformance(t *testing.T) {
	t.Run("postgres", onPostgres.run)
	t.Run("sqlserver", func(t *testing.T) {
		lazy := !sqlservertest.IsBabelfish(t, sqlservertest.Database(t))
		pagesRead := func(*testing.T, store.Database) int64 { return unknown }
		audited := func(*testing.T, store.Database) {}
		engine{
			sqlserver.Engine{},
			storesqlserver.Open,
			sqlservertest.Database,
			lazy,
			200,
			pagesRead,
			audited,
		}.run(t)
	})
}

func (e engine) run(t *testing.T) {
	t.Run("load", e.load)
	t.Run("users", e.users)
	t.Run("twice", e.twice)
	t.Run("unread", e.unread)
}

const unknown = -1

// pagesRead is how many pages of the records and their key were read so far, no session being there
// but its own.
func pagesRead(t *testing.T, s store.Database) int64 {
	pgtest.Counted(t, s.DB())
	return pgtest.Value[int64](
		t,
		s.DB(),
		`SELECT heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit
		FROM pg_statio_user_tables WHERE relname = 'messages'`,
	)
}

// audited: the connection that audits has kept no statement for each handful of records.
func audited(t *testing.T, s store.Database) {
	const most = 8 << 20
	if pgtest.Value[int](t, s.DB(), "SELECT current_setting('server_version_num')") >= 14_00_00 {
		// since PostgreSQL 14
		const kept = "SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts"
		require.Less(t, pgtest.Value[int](t, s.DB(), kept), most, "bytes of the server's process")
	}
}

func (e engine) dataset(s store.Database) mailbox.Dataset {
	return mailbox.Dataset{
		Size: mailbox.Size{Mailboxes: 20, MailboxBytes: 2 << 20}, Profile: "exchange2007sp1",
		Engines: map[string]mailbox.Engine{s.Engine(): e.Engine},
	}
}

// loaded is a database of the test's own that is loaded.
func (e engine) loaded(t *testing.T) mailbox.Target {
	t.Helper()
	s := pgtest.Open(t, e.open, e.database(t))
	_, err := load.Run(t.Context(), s, load.Options{Dataset: e.dataset(s), AtOnce: 2})
	require.NoError(t, err)
	info, err := store.ReadInfo(t.Context(), s.DB())
	require.NoError(t, err)
	engines := map[string]mailbox.Engine{s.Engine(): e.Engine}
	plan, err := mailbox.NewPlan(
		t.Context(),
		engines,
		[]store.Database{s},
		[]store.Info{info},
		mailbox.Request{},
	)
	require.NoError(t, err)
	return plan.Targets[0]
}

// pageBytes is what a record takes.
const pageBytes = 8192

// load: a load that is broken off and resumed makes a database of the size that was asked for,
// within 2 %, and whole. The pages of the part that was under way may stay, for what the runs
// insert.
func (e engine) load(t *testing.T) {
	s := pgtest.Open(t, e.open, e.database(t))
	dataset := e.dataset(s)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := load.Options{
		Dataset: dataset, AtOnce: 1,
		Progress: &storetest.Breaker{Phase: schema.Data, Left: 3000, How: cancel},
	}
	_, err := load.Run(ctx, s, o)
	require.ErrorIs(t, err, context.Canceled)
	o.Progress = nil
	o.Resume = true
	report, err := load.Run(t.Context(), s, o)
	require.NoError(t, err)
	assert.NotZero(t, report.Tables[0].Before, "rows before")
	assert.Equal(t, dataset.Size.CountRecords(), report.Tables[0].Rows, "rows in all")
	size, err := e.Engine.TableBytes(t.Context(), s)
	require.NoError(t, err)
	broken := int64(0) // pages
	for _, part := range dataset.Parts(s.Engine()) {
		broken = max(broken, part.Rows)
	}
	want := float64(dataset.Size.TotalBytes())
	assert.GreaterOrEqual(t, float64(size), 0.98*want, "bytes of the database")
	assert.LessOrEqual(t, float64(size-broken*pageBytes), 1.02*want, "bytes of the database")
	assert.Empty(
		t,
		failures(t, mailbox.Target{Store: s, Engine: e.Engine}, workload.Audit{Whole: true}),
	)
}

// failures are the checks of an audit that failed, a line each.
func failures(t *testing.T, target mailbox.Target, a workload.Audit) (failed string) {
	t.Helper()
	engines := map[string]mailbox.Engine{target.Store.Engine(): target.Engine}
	checks, err := mailbox.Workload{Engines: engines}.Audit(t.Context(), target.Store, a)
	require.NoError(t, err)
	for _, c := range checks {
		if !c.Passed {
			failed += fmt.Sprintf("%s: expected %s, found %s\n", c.Name, c.Expected, c.Found)
		}
	}
	assert.Equal(t, failed == "", result.Passed(checks), "passed")
	return failed
}

// begin begins a run of a plan on a target.
func begin(target mailbox.Target, dir string, mix mailbox.Mix) workload.Run {
	plan := mailbox.Plan{
		Parameters: mailbox.Parameters{Mix: mix},
		Targets:    []mailbox.Target{target},
	}
	return plan.Begin(dir)
}

// player carries out operations once.
type player struct {
	ctx  context.Context
	user workload.User
}

func (p player) Do(op workload.Op) error { return p.user.Call(p.ctx, op) }

// mix is that of the default profile, as far as the engine has it.
func (e engine) mix() mailbox.Mix {
	profile, _ := mailbox.FindProfile("exchange2007sp1")
	if !e.lazy {
		profile.Mix.Lazy = 0
	}
	return profile.Mix
}

// users has users work at once, and asks whether the database holds exactly what they say; then it
// is damaged.
func (e engine) users(t *testing.T) {
	target := e.loaded(t)
	crowd := begin(target, t.TempDir(), e.mix())
	crowd.NewUser(
		workload.Seat{Of: int(target.Dataset.Size.CountRecords()) + 1, Tally: new(measure.Order)},
	)
	require.ErrorContains(t, crowd.Ready(t.Context()), "use fewer users, or a larger database")
	dir := t.TempDir()
	run := begin(target, dir, e.mix())
	const users = 4
	var group errgroup.Group
	var all []workload.User
	var tallies [users]measure.Order
	for i := range users {
		all = append(
			all,
			run.NewUser(workload.Seat{Number: i, Index: i, Of: users, Seed: 7, Tally: &tallies[i]}),
		)
	}
	require.NoError(t, run.Ready(t.Context()))
	for _, u := range all {
		group.Go(func() error {
			if err := u.Connect(t.Context()); err != nil {
				return err
			}
			defer u.Close(context.Background())
			for range 300 {
				if err := u.Play(player{t.Context(), u}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	require.NoError(t, run.End())
	account := &workload.Account{Dirs: []string{dir}}
	for _, whole := range []bool{false, true} {
		told := map[string]bool{}
		tell := func(doing string, _, _ int64) { told[doing] = true }
		failed := failures(t, target, workload.Audit{Run: account, Whole: whole, Tell: tell})
		assert.Empty(t, failed, "whole %v", whole)
		assert.True(t, told["audit "+target.Store.Label()], "what is told: %v", told)
		assert.Equal(t, !whole, told["read the keys of "+target.Store.Label()], "J12: %v", told)
	}
	e.audited(t, target.Store)
	e.damage(t, target, account)
}

// damage does to a database what an audit must find.
func (e engine) damage(t *testing.T, target mailbox.Target, account *workload.Account) {
	session, err := e.Engine.ConnectUser(t.Context(), target.Store)
	require.NoError(t, err)
	defer session.Close(context.Background())
	transact := func(op workload.Op, r mailbox.Record) mailbox.Step {
		t.Helper()
		step := mailbox.Step{Op: op, Record: r}
		err := session.Transact(t.Context(), &step, false)
		require.True(t, err == nil && step.Found, "operation %d: found %v: %v", op, step.Found, err)
		return step
	}
	var key mailbox.Key
	const columns = "mailbox_id, folder_id, message_id"
	row := target.Store.DB().QueryRow("SELECT " + columns + " FROM messages ORDER BY " + columns)
	require.NoError(t, row.Scan(&key.Mailbox, &key.Folder, &key.Message))
	kept := transact(mailbox.Read, mailbox.Record{Key: key}).Record
	require.NoError(t, kept.CheckSum())
	alien := kept
	changed := kept
	alien.Message++
	changed.Body = bytes.Clone(kept.Body)
	changed.Body[len(changed.Body)-1] ^= 1
	for _, c := range []struct {
		want     string
		do, undo workload.Op
		with     mailbox.Record
	}{
		{"records that are missing", mailbox.Delete, mailbox.Insert, kept},
		{"records with a key that ds2 did not make", mailbox.Insert, mailbox.Delete, alien},
		{"damaged records", mailbox.Replace, mailbox.Delete, changed},
	} {
		transact(c.do, c.with)
		assert.Contains(t, failures(t, target, workload.Audit{Run: account, Whole: true}), c.want)
		transact(c.undo, c.with)
	}
}

// counts is an engine whose server counts n records.
type counts struct {
	mailbox.Engine
	records int64
}

func (c counts) CountRecords(context.Context, store.Database) (int64, error) {
	return c.records, nil
}

// unread: which records there are is known before a run by the load, or by the record of the run
// before it, as long as the server does not count another number: their keys are not read, so that
// only the audit after the run finds one that was deleted.
func (e engine) unread(t *testing.T) {
	target := e.loaded(t)
	loaded := target.Dataset.Size.CountRecords()
	const missing = "records that are missing"
	reading := mailbox.Mix{Read: 50, Replace: 50}
	changing := mailbox.Mix{Insert: 50, Delete: 50}
	last := ""
	for _, c := range []struct {
		name   string
		remove uint64 // a record, before the run
		counts int64
		mix    mailbox.Mix
		read   bool
		forget bool // the last run's record
	}{
		{"another number than was loaded", 5, loaded - 1, reading, true, false},
		{
			"after a load, on a server that does not count", 0, mailbox.UnknownRecords, reading,
			false, false,
		},
		{"after runs that change nothing", 0, loaded, reading, false, false},
		{"before the first run that changes records", 0, loaded, changing, false, false},
		{"after a run whose audit failed", 0, loaded, reading, true, false},
		{"after one whose audit passed", 6, loaded - 1, changing, false, false},
		{"on a server that does not count", 0, mailbox.UnknownRecords, changing, true, false},
		{"again after one whose audit passed", 7, mailbox.UnknownRecords, changing, false, false},
		{"after that", 0, mailbox.UnknownRecords, changing, true, false},
		{"another number than the record's", 8, loaded, changing, true, false},
		{"the record is gone", 9, mailbox.UnknownRecords, changing, true, true},
	} {
		if c.remove > 0 {
			step := mailbox.Step{Op: mailbox.Delete}
			shapeOf(target).FillRecord(&step.Record, c.remove, 99)
			session, err := e.Engine.ConnectUser(t.Context(), target.Store)
			require.NoError(t, err)
			require.NoError(t, session.Transact(t.Context(), &step, false))
			require.NoError(t, session.Close(context.Background()))
		}
		if c.forget {
			require.NoError(t, os.RemoveAll(last))
		}
		dir := t.TempDir()
		last = dir
		target.Engine = counts{e.Engine, c.counts}
		run := begin(target, dir, c.mix)
		run.NewUser(workload.Seat{Of: 1, Seed: 7, Tally: new(measure.Order)})
		before := e.pagesRead(t, target.Store)
		require.NoError(t, run.Ready(t.Context()), c.name)
		if read := e.pagesRead(t, target.Store) - before; before != unknown {
			assert.Equal(
				t,
				c.read,
				read > 0,
				"%s: %d pages of records and key were read just before",
				c.name,
				read,
			)
		}
		require.NoError(t, run.End())
		failed := failures(t, target, workload.Audit{Run: &workload.Account{Dirs: []string{dir}}})
		if strings.Contains(failed, missing) == c.read || c.read && failed != "" {
			t.Errorf(
				"%s: the audit says %q; the records were to be read before the run: %v",
				c.name,
				failed,
				c.read,
			)
		}
	}
}

// twice: a transaction that is sent again, because it is unknown whether it was committed, changes
// nothing more.
func (e engine) twice(t *testing.T) {
	target := e.loaded(t)
	session, err := e.Engine.ConnectUser(t.Context(), target.Store)
	require.NoError(t, err)
	defer session.Close(context.Background())
	steps := make([]mailbox.Step, 4)
	ops := []workload.Op{mailbox.Insert, mailbox.Replace, mailbox.Delete, mailbox.Read}
	for i, op := range ops {
		n := uint64(i)
		if op == mailbox.Insert {
			n = 1 << 30
		}
		steps[i].Op = op
		steps[i].Number = n
		shapeOf(target).FillRecord(&steps[i].Record, n, 99)
	}
	for try := range 2 {
		for i, want := range []bool{try == 0, true, try == 0, true} {
			require.NoError(t, session.Transact(t.Context(), &steps[i], try == 1 && e.lazy))
			assert.Equal(t, want, steps[i].Found, "try %d: step %d found", try+1, i)
		}
		assert.NoError(t, steps[3].Record.CheckSum(), "what was read")
		assert.NotEqualValues(t, 99, steps[3].Record.Flags, "of what was read")
	}
	n := testing.AllocsPerRun(100, func() {
		assert.NoError(t, session.Transact(t.Context(), &steps[0], e.lazy))
	})
	assert.LessOrEqual(t, n, e.allocs, "allocations a transaction that only writes")
}

func shapeOf(target mailbox.Target) mailbox.Shape {
	return mailbox.Shape{Mailboxes: target.Dataset.Size.Mailboxes, Seed: target.Dataset.Seed}
}

// TestLazy: with a standby that never comes, a full commit waits for ever, and a lazy one does not.
func TestLazy(t *testing.T) {
	target := onPostgres.loaded(t)
	s := target.Store
	setting := func(value string) {
		t.Helper()
		pgtest.Exec(
			t,
			s.DB(),
			"ALTER SYSTEM SET synchronous_standby_names = '"+value+"'",
			"SELECT pg_reload_conf()",
		)
	}
	setting("nobody")
	defer setting("")
	session, err := postgres.Engine{}.ConnectUser(t.Context(), s)
	require.NoError(t, err)
	defer session.Close(context.Background())
	step := func(record uint64) *mailbox.Step {
		s := &mailbox.Step{Op: mailbox.Replace}
		shapeOf(target).FillRecord(&s.Record, record, 1)
		return s
	}
	// The server's processes read the setting one after the other: a commit that waits tells that
	// the last has.
	for waits := 0; waits == 0; {
		full, err := postgres.Engine{}.ConnectUser(t.Context(), s)
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

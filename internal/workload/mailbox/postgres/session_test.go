package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/store"
	storepostgres "ds2/internal/store/postgres"
	"ds2/internal/workload"
	"ds2/internal/workload/mailbox"
	"ds2/internal/workload/mailbox/postgres"
	"ds2/schema"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func open(t *testing.T) store.Store {
	t.Helper()
	u, err := url.Parse(pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := storepostgres.Open(u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

var dataset = mailbox.Dataset{
	Size: mailbox.Size{Mailboxes: 20, MailboxBytes: 2 << 20}, Profile: "exchange2007sp1",
	Engines: map[string]mailbox.Engine{storepostgres.Engine: postgres.Engine{}},
}

func loadInto(t *testing.T, s store.Store) {
	t.Helper()
	if _, err := load.Run(t.Context(), s.(store.Loader), load.Options{Dataset: dataset, AtOnce: 2}); err != nil {
		t.Fatal(err)
	}
}

func look(t *testing.T, s store.Store) mailbox.Target {
	t.Helper()
	info, err := store.ReadInfo(t.Context(), s.DB())
	if err != nil {
		t.Fatal(err)
	}
	target, err := mailbox.Look(s, postgres.Engine{}, info)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// breaking is a load's progress that breaks it off when some rows were copied.
type breaking struct {
	after  int64
	copied atomic.Int64
	cancel func()
}

func (*breaking) Begin(schema.Phase)                   {}
func (*breaking) Statement(schema.Phase, string, bool) {}
func (*breaking) Built(string, float64)                {}
func (*breaking) Done(float64, time.Duration)          {}
func (b *breaking) Copied(_ datagen.Table, rows, _ int64) {
	if b.copied.Add(rows) > b.after {
		b.cancel()
	}
}

// TestLoad: a load that is broken off and resumed makes a database of the size that was asked for, within 2 %, and whole. The pages
// of the part that was under way stay, for what the runs insert.
func TestLoad(t *testing.T) {
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := load.Options{Dataset: dataset, AtOnce: 1, Progress: &breaking{after: 3000, cancel: cancel}}
	if _, err := load.Run(ctx, s.(store.Loader), o); !errors.Is(err, context.Canceled) {
		t.Fatalf("broken load: %v", err)
	}
	o.Progress, o.Resume = nil, true
	report, err := load.Run(t.Context(), s.(store.Loader), o)
	if err != nil {
		t.Fatal(err)
	}
	if report.Tables[0].Before == 0 || report.Tables[0].Rows != dataset.Size.Records() {
		t.Errorf("%d rows before and %d in all, of %d", report.Tables[0].Before, report.Tables[0].Rows, dataset.Size.Records())
	}
	bytes, err := postgres.Engine{}.Bytes(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	broken := int64(0) // pages
	for _, part := range dataset.Parts("postgres") {
		broken = max(broken, part.Rows)
	}
	if want := float64(dataset.Size.Bytes()); float64(bytes) < 0.98*want || float64(bytes-broken*8192) > 1.02*want {
		t.Errorf("the database has %d bytes, not %.0f", bytes, want)
	}
	if failed := failures(t, s, workload.Audit{Whole: true}); len(failed) > 0 {
		t.Error(failed)
	}
	var pages, rows int64
	if err := s.DB().QueryRow("SELECT pg_relation_size('messages') / 8192, count(*) FROM messages").Scan(&pages, &rows); err != nil || pages < rows || pages > rows+rows/50+broken {
		t.Errorf("%d records on %d pages: %v", rows, pages, err)
	}
}

func failures(t *testing.T, s store.Store, a workload.Audit) (failed []string) {
	t.Helper()
	checks, err := mailbox.Workload{}.Audit(t.Context(), s, a)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if !c.Passed {
			failed = append(failed, fmt.Sprintf("%s: expected %s, found %s", c.Name, c.Expected, c.Found))
		}
	}
	if result.Passed(checks) != (len(failed) == 0) {
		t.Errorf("passed %v", result.Passed(checks))
	}
	return failed
}

// player carries out operations once.
type player struct {
	ctx  context.Context
	user workload.User
}

func (p player) Do(op workload.Op) error { return p.user.Call(p.ctx, op) }

// TestUsers has users work at once, and asks whether the database holds exactly what they say; then it is damaged.
func TestUsers(t *testing.T) {
	s := open(t)
	loadInto(t, s)
	for _, batch := range []int{1, 5} {
		dir := t.TempDir()
		profile, _ := mailbox.FindProfile("exchange2007sp1")
		plan := &mailbox.Plan{Parameters: mailbox.Parameters{Mix: profile.Mix, Batch: batch}, Targets: []mailbox.Target{look(t, s)}}
		run := plan.Begin(dir)
		const users = 4
		done := make(chan error, users)
		var all []workload.User
		var tallies [users]measure.Order
		for i := range users {
			all = append(all, run.NewUser(workload.Seat{Number: i, Index: i, Of: users, Seed: 7, Tally: &tallies[i]}))
		}
		if err := run.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, u := range all {
			go func() {
				done <- func() error {
					if err := u.Connect(t.Context()); err != nil {
						return err
					}
					defer u.Close(context.Background())
					for range 300 / batch {
						if err := u.Play(player{t.Context(), u}); err != nil {
							return err
						}
					}
					return nil
				}()
			}()
		}
		for range users {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if err := run.End(); err != nil {
			t.Fatal(err)
		}
		account := &workload.Account{Dirs: []string{dir}}
		for _, whole := range []bool{false, true} {
			if failed := failures(t, s, workload.Audit{Run: account, Whole: whole}); len(failed) > 0 {
				t.Errorf("batch %d, whole %v: %q", batch, whole, failed)
			}
		}
		if batch == 1 {
			continue
		}
		for _, c := range []struct{ name, sql, undo, want string }{
			{"a lost record", "CREATE TABLE kept AS SELECT * FROM messages LIMIT 1; DELETE FROM messages USING kept WHERE messages.message_id = kept.message_id", "INSERT INTO messages SELECT * FROM kept", "records that are missing"},
			{"a record of somebody else's", "INSERT INTO messages SELECT message_id + 1, mailbox_id, flags, crc, folder_id, body FROM kept", "DELETE FROM messages USING kept WHERE messages.message_id = kept.message_id + 1", "records with a key that ds2 did not make"},
			{"a changed bit", "UPDATE messages SET body = set_byte(body, 6999, 255 - get_byte(body, 6999)) WHERE message_id = (SELECT message_id FROM kept)", "", "damaged records"},
		} {
			for statement := range strings.SplitSeq(c.sql, ";") {
				if _, err := s.DB().Exec(statement); err != nil {
					t.Fatal(err)
				}
			}
			failed := failures(t, s, workload.Audit{Run: account, Whole: true})
			if !strings.Contains(strings.Join(failed, "\n"), c.want) {
				t.Errorf("%s: found %q", c.name, failed)
			}
			if c.undo != "" {
				if _, err := s.DB().Exec(c.undo); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestTwice: a transaction that is sent again, because nobody knew whether it was committed, changes nothing more.
func TestTwice(t *testing.T) {
	s := open(t)
	loadInto(t, s)
	session, err := postgres.Engine{}.Connect(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(context.Background())
	shape := mailbox.Shape{Mailboxes: dataset.Size.Mailboxes, Seed: look(t, s).Dataset.Seed}
	steps := make([]mailbox.Step, 4)
	for i, op := range []workload.Op{mailbox.Insert, mailbox.Replace, mailbox.Delete, mailbox.Read} {
		n := uint64(i)
		if op == mailbox.Insert {
			n = 1 << 30
		}
		steps[i].Op, steps[i].Number = op, n
		shape.Fill(&steps[i].Record, n, 99)
	}
	for try := range 2 {
		if err := session.Transact(t.Context(), steps, try == 1); err != nil {
			t.Fatal(err)
		}
		for i, want := range []bool{try == 0, true, try == 0, true} {
			if steps[i].Found != want {
				t.Errorf("try %d: step %d found %v", try+1, i, steps[i].Found)
			}
		}
		if err := steps[3].Record.Check(); err != nil || steps[3].Record.Flags == 99 {
			t.Errorf("what was read: flags %d, %v", steps[3].Record.Flags, err)
		}
	}
	// pgproto3 gives the buffer of a large message back after each.
	if n := testing.AllocsPerRun(100, func() {
		if err := session.Transact(t.Context(), steps[:3], true); err != nil {
			t.Error(err)
		}
	}); n > 4 {
		t.Errorf("%v allocations a transaction that only writes", n)
	}
}

// TestLazy: with a standby that never comes, a full commit waits for ever, and a lazy one does not.
func TestLazy(t *testing.T) {
	s := open(t)
	loadInto(t, s)
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
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(context.Background())
	setting("nobody")
	defer setting("")
	step := make([]mailbox.Step, 1)
	shape := mailbox.Shape{Mailboxes: dataset.Size.Mailboxes, Seed: look(t, s).Dataset.Seed}
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

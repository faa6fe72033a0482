// Package sqlserver is the calls of workload mailbox on SQL Server.
package sqlserver

import (
	"context"
	"errors"
	"strings"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver"
	"ds2/internal/workload"
	"ds2/internal/workload/mailbox"
	"ds2/schema"
)

var _ mailbox.Engine = Engine{}

// Engine is how the mailbox store works on SQL Server.
type Engine struct{}

// SharesLog is false: each database has a log of its own.
func (Engine) SharesLog() bool { return false }

// CheckParameters asks whether commits can be lazy and full: by themselves, neither the option of a
// database nor a server that does not know it has a commit fail that asks for what they do not
// give.
func (Engine) CheckParameters(
	ctx context.Context,
	target store.Database,
	p mailbox.Parameters,
) error {
	d, err := target.(*sqlserver.Store).DelayedDurability(ctx)
	var fault string
	switch lazy := p.Mix.Lazy; {
	case err != nil:
		return err
	case lazy > 0 && d == "":
		fault = "%s has no delayed durability, by which a commit is lazy: use --lazy 0"
	case lazy > 0 && d == "DISABLED":
		fault = "DELAYED_DURABILITY of %s is DISABLED, which makes all commits full: set it to ALLOWED by ALTER DATABASE, or use --lazy 0"
	case lazy < 100 && d == "FORCED":
		fault = "DELAYED_DURABILITY of %s is FORCED, which makes all commits lazy: set it to ALLOWED by ALTER DATABASE, or use --lazy 100"
	default:
		return nil
	}
	return workload.Refuse("lazy is %d: "+fault, p.Mix.Lazy, target.Label())
}

// TableBytes is what the records take in the database, with the upper levels of their key.
func (Engine) TableBytes(ctx context.Context, target store.Database) (int64, error) {
	return target.(*sqlserver.Store).TableBytes(ctx, "messages")
}

// CountRecords is what the server counts of the table, whose rows have their key in them alone: to
// read all keys is to read all records. Babelfish counts none.
func (Engine) CountRecords(ctx context.Context, target store.Database) (int64, error) {
	s := target.(*sqlserver.Store)
	if babelfish, err := s.IsBabelfish(ctx); err != nil || babelfish {
		return mailbox.UnknownRecords, err
	}
	return s.TableRows(ctx, "messages")
}

// DescribeDirectIO says that the server does so by itself, but for Babelfish, which is a
// PostgreSQL.
func (Engine) DescribeDirectIO(settings map[string]string) string {
	if strings.HasPrefix(settings["server edition"], "Babelfish") {
		return ""
	}
	return "the server bypasses it"
}

// session is one user's connection.
type session struct {
	*sqlserver.Conn
	step *mailbox.Step // under way
}

// ConnectUser opens a user's connection with the statements that it will execute.
func (Engine) ConnectUser(ctx context.Context, target store.Database) (mailbox.Session, error) {
	conn, err := target.(*sqlserver.Store).ConnectUser(ctx, statements...)
	if err != nil {
		return nil, err
	}
	return &session{Conn: conn}, nil
}

// statements are what the operations call, by their places: first those whose commit is full, then
// the lazy ones.
var statements = append(readCalls(false), readCalls(true)...)

// readCalls reads the calls of the operations, by the order of their places, with full or with lazy
// commits.
func readCalls(lazy bool) []schema.Statement {
	p := schema.Params{Workload: mailbox.Name}
	p.Layout.Uses.DelayedDurability = lazy
	return schema.Calls(sqlserver.Engine, p, workload.Names(mailbox.Workload{}.Operations())...)
}

// Transact carries out an operation: a statement alone is a transaction, and commits in full.
func (s *session) Transact(ctx context.Context, step *mailbox.Step, lazy bool) error {
	writes := step.Op != mailbox.Read
	columns := 1
	if !writes {
		columns = 3
	}
	s.step = step
	step.Found = false
	statement := int(step.Op)
	if lazy && writes {
		statement += len(statements) / 2
	}
	s.Call(statement)
	r := &step.Record
	s.Int32(r.Mailbox)
	s.AddParam(r.Folder)
	s.AddParam(r.Message)
	if step.Op == mailbox.Insert || step.Op == mailbox.Replace {
		s.Int32(int32(r.Flags))
		s.Int32(int32(r.Sum))
		s.AddParam(r.Body)
	}
	err := s.Each(ctx, writes, columns, s.takeRow)
	if e, ok := errors.AsType[*store.Error](err); ok && e.Code == duplicateKey {
		e.Class = store.Serialization
	}
	return err
}

// duplicateKey is the number of an insert whose record came to be after it was looked for: its
// first try, whose connection broke, was committed only now. The next one finds it.
const duplicateKey = "2627"

// takeRow takes a row of the answer.
func (s *session) takeRow(row []sqlserver.Value) error {
	s.step.Found = true
	if r := &s.step.Record; s.step.Op == mailbox.Read {
		r.Flags = uint32(row[0].N)
		r.Sum = uint32(row[1].N)
		r.Body = append(r.Body[:0], row[2].Bytes...)
	}
	return nil
}

// ByKey is true: in the order of the clustered key, in which the table lies, nothing is sorted, no
// page is split, and of new pages the server logs only that they are there.
func (Engine) ByKey() bool { return true }

// Package sqlserver is the calls of workload mailbox on SQL Server.
package sqlserver

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver"
	"ds2/internal/workload"
	"ds2/internal/workload/mailbox"
)

var _ mailbox.Engine = Engine{}

type Engine struct{}

// mostSteps is how many operations a transaction can have: a call takes 2,100 parameters, of which sp_executesql has
// two, and an operation up to six.
const mostSteps = (2100 - 2) / 6

// SharesLog: each database has its own.
func (Engine) SharesLog() bool { return false }

// Check asks whether commits can be lazy and full: by themselves, neither the option of a database nor a server that
// does not know it has a commit fail that asks for what they do not give.
func (Engine) Check(ctx context.Context, target store.Database, p mailbox.Parameters) error {
	if p.Batch > mostSteps {
		return fmt.Errorf("batch is %d: on SQL Server it must be 1 to %d operations", p.Batch, mostSteps)
	}
	d, err := target.(*sqlserver.Store).DelayedDurability(ctx)
	var fault string
	switch lazy := p.Mix.Lazy; {
	case err != nil:
		return err
	case lazy > 0 && d == sqlserver.DurabilityUnknown:
		fault = "%s has no delayed durability, by which a commit is lazy: use --lazy 0"
	case lazy > 0 && d == sqlserver.DurabilityDisabled:
		fault = "DELAYED_DURABILITY of %s is DISABLED, which makes all commits full: " +
			"set it to ALLOWED by ALTER DATABASE, or use --lazy 0"
	case lazy < 100 && d == sqlserver.DurabilityForced:
		fault = "DELAYED_DURABILITY of %s is FORCED, which makes all commits lazy: " +
			"set it to ALLOWED by ALTER DATABASE, or use --lazy 100"
	default:
		return nil
	}
	return fmt.Errorf("lazy is %d: "+fault, p.Mix.Lazy, target.Label())
}

// Bytes is what the records take in the database, with the upper levels of their key.
func (Engine) Bytes(ctx context.Context, target store.Database) (int64, error) {
	return target.(*sqlserver.Store).TableBytes(ctx, "dbo.messages")
}

// Counted is what the server counts of the table, whose rows have their key in them alone: to read all keys is to read
// all records. Babelfish counts none.
func (Engine) Counted(ctx context.Context, target store.Database) (int64, error) {
	s := target.(*sqlserver.Store)
	if v, err := s.Kind(ctx); err != nil || v.Babelfish {
		return mailbox.UnknownRecords, err
	}
	return s.TableRows(ctx, "dbo.messages")
}

// Direct says that the server does so by itself, but for Babelfish, which is a PostgreSQL.
func (Engine) Direct(settings map[string]string) string {
	if strings.HasPrefix(settings["server edition"], "Babelfish") {
		return ""
	}
	return "the server reads and writes its files past it"
}

// session is one user's connection. What stands here is used again by each transaction, so that one allocates nothing.
type session struct {
	*sqlserver.Conn
	sql   []byte
	steps []mailbox.Step // of the transaction under way
	order []int          // places of the steps, in the order in which the text has them
	take  func([]sqlserver.Value) error
}

func (Engine) Connect(ctx context.Context, target store.Database) (mailbox.Session, error) {
	conn, err := target.(*sqlserver.Store).ConnectUser(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{Conn: conn}
	s.take = s.found
	return s, nil
}

// Transact carries out operations in one transaction and one round trip: as one text with parameters, by which the
// server keeps its plan. The text has operations of a kind together, whatever their order, which matters to none of
// them since each has a record of its own: of ten operations there are 572 texts in this way, and 4^10 otherwise, each
// of which would have to be compiled.
func (s *session) Transact(ctx context.Context, steps []mailbox.Step, lazy bool) error {
	name, writes := mailbox.Begin(steps)
	s.steps = steps
	s.sort()
	s.write(lazy && writes)
	s.CallText(name, s.sql)
	for _, i := range s.order {
		s.parameters(&steps[i])
	}
	err := s.Each(ctx, writes, sqlserver.AnyColumns, s.take)
	if e, ok := errors.AsType[*store.Error](err); ok && e.Code == duplicateKey {
		e.Class = store.Serialization
	}
	return err
}

// duplicateKey is the number of an insert whose record came to be after it was looked for: its first try, whose
// connection broke, was committed only now. The next one finds it.
const duplicateKey = "2627"

// The statements, by operation: @1 to @6 are its parameters, and @0 its place in the transaction, which each gives in a
// row where it found its record, or inserted it. The lock of an insert has it wait for a first try that is still under
// way, also where readers see versions.
var statements = [...]string{
	mailbox.Read: "SELECT @0, flags, crc, body FROM dbo.messages" + byKey,
	mailbox.Insert: "INSERT INTO dbo.messages (mailbox_id, folder_id, message_id, flags, crc, body)" +
		" OUTPUT @0 SELECT @1, @2, @3, @4, @5, @6" +
		" WHERE NOT EXISTS (SELECT 1 FROM dbo.messages WITH (UPDLOCK)" + byKey + ")",
	mailbox.Replace: "UPDATE dbo.messages SET flags = @4, crc = @5, body = @6 OUTPUT @0" + byKey,
	mailbox.Delete:  "DELETE FROM dbo.messages OUTPUT @0" + byKey,
}

const byKey = " WHERE mailbox_id = @1 AND folder_id = @2 AND message_id = @3"

// sort puts the steps of a kind together.
func (s *session) sort() {
	s.order = s.order[:0]
	for op := range workload.Op(len(statements)) {
		for i := range s.steps {
			if s.steps[i].Op == op {
				s.order = append(s.order, i)
			}
		}
	}
}

// write writes the text of a transaction. A statement alone is one, and commits in full.
func (s *session) write(lazy bool) {
	s.sql = s.sql[:0]
	alone := len(s.steps) == 1 && !lazy
	if !alone {
		s.sql = append(s.sql, "SET XACT_ABORT ON; BEGIN TRANSACTION; "...)
	}
	p := 1 // number of the next parameter
	for place, i := range s.order {
		op := s.steps[i].Op
		s.statement(statements[op], place, p)
		p += parameters(op)
	}
	switch {
	case lazy:
		s.sql = append(s.sql, "COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);"...)
	case !alone:
		s.sql = append(s.sql, "COMMIT TRANSACTION;"...)
	}
}

// statement adds the statement of the step of a place, with the numbers of its parameters from p on.
func (s *session) statement(text string, place, p int) {
	for {
		before, rest, more := strings.Cut(text, "@")
		s.sql = append(s.sql, before...)
		switch {
		case !more:
			s.sql = append(s.sql, "; "...)
			return
		case rest[0] == '0':
			s.sql = strconv.AppendInt(s.sql, int64(place), 10)
		default:
			s.sql = strconv.AppendInt(append(s.sql, "@p"...), int64(p)+int64(rest[0]-'1'), 10)
		}
		text = rest[1:]
	}
}

// parameters is how many an operation has: the key and, where the record is written, the rest.
func parameters(op workload.Op) int {
	if op == mailbox.Insert || op == mailbox.Replace {
		return 6
	}
	return 3
}

func (s *session) parameters(step *mailbox.Step) {
	r := &step.Record
	s.Int32(r.Mailbox)
	s.Int16(r.Folder)
	s.Int64(r.Message)
	if step.Op == mailbox.Insert || step.Op == mailbox.Replace {
		s.Int32(int32(r.Flags))
		s.Int32(int32(r.Sum))
		s.Binary(r.Body)
	}
}

// found takes a row of the answer.
func (s *session) found(row []sqlserver.Value) error {
	i := row[0].N
	if i < 0 || i >= int64(len(s.steps)) {
		return fmt.Errorf("the server answers step %d of %d", i, len(s.steps))
	}
	step := &s.steps[s.order[i]]
	step.Found = true
	if step.Op == mailbox.Read {
		if len(row) != 4 {
			return fmt.Errorf("a record of %d columns, not 4", len(row))
		}
		step.Record.Flags, step.Record.Sum = uint32(row[1].N), uint32(row[2].N)
		step.Record.Body = append(step.Record.Body[:0], row[3].Bytes...)
	}
	return nil
}

// rowBytes is a row in bcp's native format: whole numbers, and the length of the body before it.
const rowBytes = 8 + 4 + 4 + 4 + 2 + 2 + mailbox.BodySize

// Format is bcp's native one. Rows come in the order of the clustered key, in which the table lies: nothing is sorted,
// no page is split, and of new pages the server logs only that they are there.
func (Engine) Format() mailbox.Format {
	return mailbox.Format{RowBytes: rowBytes, Append: appendRow, ByKey: true}
}

// appendRow appends a row in the order of the columns.
func appendRow(b []byte, r *mailbox.Record) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, uint64(r.Message))
	b = le.AppendUint32(b, uint32(r.Mailbox))
	b = le.AppendUint32(b, r.Flags)
	b = le.AppendUint32(b, r.Sum)
	b = le.AppendUint16(b, uint16(r.Folder))
	return append(le.AppendUint16(b, uint16(len(r.Body))), r.Body...)
}

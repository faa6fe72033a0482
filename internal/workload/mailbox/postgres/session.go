// Package postgres is the calls of workload mailbox on PostgreSQL.
package postgres

import (
	"context"
	"encoding/binary"
	"strings"

	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/workload"
	"ds2/internal/workload/mailbox"
	"ds2/schema"
)

var _ mailbox.Engine = Engine{}

// Engine is how the mailbox store works on PostgreSQL.
type Engine struct{}

// SharesLog is true: the databases of a cluster have one log.
func (Engine) SharesLog() bool { return true }

// CheckParameters has nothing to refuse: each transaction says by itself how it commits.
func (Engine) CheckParameters(context.Context, store.Database, mailbox.Parameters) error {
	return nil
}

// The names of what is called: the operations', and that of what is sent before a lazy one.
var names = append(workload.Names(mailbox.Workload{}.Operations()), "lazily")

// lazily is the place of the last.
const lazily = int(mailbox.Delete) + 1

// statements are what is called, by places.
var statements = schema.Calls(postgres.Engine, schema.Params{Workload: mailbox.Name}, names...)

// session is one user's connection.
type session struct {
	*postgres.Conn
	step *mailbox.Step // under way
	lazy bool          // its first row is that of lazily
}

// ConnectUser opens a user's connection with the statements that it will execute.
func (Engine) ConnectUser(ctx context.Context, target store.Database) (mailbox.Session, error) {
	conn, err := target.(*postgres.Store).ConnectUser(ctx, statements...)
	if err != nil {
		return nil, err
	}
	return &session{Conn: conn}, nil
}

// TableBytes are those of the table with its indexes and its TOAST table.
func (Engine) TableBytes(ctx context.Context, target store.Database) (bytes int64, err error) {
	err = target.DB().QueryRowContext(ctx, "SELECT pg_total_relation_size('messages')").Scan(&bytes)
	return bytes, target.Wrap("ask for the size of "+target.Label(), err)
}

// CountRecords is unknown: the server only estimates the rows of a table.
func (Engine) CountRecords(context.Context, store.Database) (int64, error) {
	return mailbox.UnknownRecords, nil
}

// DescribeDirectIO says whether data files are opened for direct I/O, which version 16 and later
// can.
func (Engine) DescribeDirectIO(settings map[string]string) string {
	if direct := settings["debug_io_direct"]; strings.Contains(direct, "data") {
		return "debug_io_direct = " + direct
	}
	return ""
}

// Transact sends the operation, behind the setting for a lazy commit where it is one, in one round
// trip. A read has nothing to commit, so that it is never lazy.
func (s *session) Transact(ctx context.Context, step *mailbox.Step, lazy bool) error {
	writes := step.Op != mailbox.Read
	s.step = step
	step.Found = false
	s.lazy = lazy && writes
	if s.lazy {
		s.Call(&statements[lazily])
		s.Queue()
	}
	r := &step.Record
	s.Call(&statements[step.Op])
	s.Int32(r.Mailbox)
	s.Int16(r.Folder)
	s.Int64(r.Message)
	if step.Op == mailbox.Insert || step.Op == mailbox.Replace {
		s.Int32(int32(r.Flags))
		s.Int32(int32(r.Sum))
		s.Bytes(r.Body)
	}
	return s.Each(ctx, writes, s.takeRow)
}

// takeRow takes a row of the answer.
func (s *session) takeRow(row [][]byte) bool {
	if s.lazy {
		s.lazy = false
		return true
	}
	s.step.Found = true
	if s.step.Op != mailbox.Read {
		return true
	}
	if len(row) != 3 || len(row[0]) != 4 || len(row[1]) != 4 {
		return false
	}
	r := &s.step.Record
	r.Flags = binary.BigEndian.Uint32(row[0])
	r.Sum = binary.BigEndian.Uint32(row[1])
	r.Body = append(r.Body[:0], row[2]...)
	return true
}

// ByKey is false: rows come by their numbers, and the key is made after them.
func (Engine) ByKey() bool { return false }

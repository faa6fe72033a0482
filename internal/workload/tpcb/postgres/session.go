// Package postgres is the calls of workload tpcb on PostgreSQL.
package postgres

import (
	"context"
	"encoding/binary"

	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/workload/tpcb"
)

var post = postgres.Statement{Name: "post", SQL: "SELECT tpcb_post($1, $2, $3, $4)"}

// session is one user's connection.
type session struct{ *postgres.Conn }

var (
	_ tpcb.Connect = Connect
	_ tpcb.Session = (*session)(nil)
)

// Connect opens a connection for one user.
func Connect(ctx context.Context, target store.Database) (tpcb.Session, error) {
	conn, err := target.(*postgres.Store).ConnectUser(ctx, post)
	if err != nil {
		return nil, err
	}
	return &session{conn}, nil
}

// Post calls the function that is the transaction.
func (s *session) Post(ctx context.Context, t tpcb.Transfer) (balance int64, err error) {
	s.Call(&post)
	s.Int32(t.Account)
	s.Int32(t.Teller)
	s.Int32(t.Branch)
	s.Int32(t.Delta)
	if err := s.Run(ctx); err != nil {
		return 0, s.Fail(post.Name, true, err)
	}
	for {
		_, row, err := s.Row()
		if err != nil {
			return 0, s.Fail(post.Name, true, err)
		}
		if row == nil {
			return balance, nil
		}
		if len(row) != 1 || len(row[0]) != 8 {
			return 0, s.Fail(post.Name, true, s.ErrShape())
		}
		balance = int64(binary.BigEndian.Uint64(row[0]))
	}
}

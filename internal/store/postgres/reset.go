package postgres

import (
	"context"
	"io"

	"github.com/jackc/pgx/v5"

	"ds2/schema"
)

// Reset takes the database back to the state after the load: store.Resetter.
func (s *Store) Reset(ctx context.Context, statements []schema.Statement, inventory io.Reader) error {
	err := s.onConn(ctx, func(conn *pgx.Conn) error {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "CREATE TEMPORARY TABLE ds2_inventory (LIKE inventory) ON COMMIT DROP"); err != nil {
				return err
			}
			if _, err := copyFrom(ctx, conn, "ds2_inventory", inventory); err != nil {
				return err
			}
			return s.execAll(ctx, tx.Exec, statements, false)
		})
		if err != nil {
			return err
		}
		return s.execAll(ctx, conn.Exec, statements, true)
	})
	return s.wrap("reset "+s.Label(), err)
}

// execAll runs one after the other the statements that the server refuses in a transaction, or all others.
func (s *Store) execAll(ctx context.Context, exec execFunc, statements []schema.Statement, noTransaction bool) error {
	for _, statement := range statements {
		if statement.NoTransaction != noTransaction {
			continue
		}
		if _, err := exec(ctx, statement.SQL); err != nil {
			return s.wrap(statement.Name, err)
		}
	}
	return nil
}

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
			return s.execStep(ctx, tx.Exec, statements, 0)
		})
		if err != nil {
			return err
		}
		return s.execStep(ctx, conn.Exec, statements, 1) // VACUUM takes no part in transactions
	})
	return s.wrap("reset "+s.Label(), err)
}

// execStep runs the statements of a step one after the other.
func (s *Store) execStep(ctx context.Context, exec execFunc, statements []schema.Statement, step int) error {
	for _, statement := range statements {
		if statement.Step != step {
			continue
		}
		if _, err := exec(ctx, statement.SQL); err != nil {
			return s.wrap(statement.Name(), err)
		}
	}
	return nil
}

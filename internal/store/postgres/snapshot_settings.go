package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// settings are the statements that set for database $2 what is set for database $1 and no copy of
// files has, with what each of them keeps, in the order in which they are to be run. A setting that
// is a list is told by way of the session's own, as its elements are quoted in their own way.
var settings = query("server/database-settings")

// keepSettings sets for database to what is set for database from, where that is there, in one
// transaction. What the server refuses, warn is told.
func keepSettings(ctx context.Context, conn *pgx.Conn, from, to string, warn func(string)) error {
	type setting struct{ What, SQL string }
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, settings, from, to) // CollectRows gives its error
		all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[setting])
		if err != nil {
			return err
		}
		for _, one := range all {
			err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
				_, err := tx.Conn().PgConn().Exec(ctx, one.SQL).ReadAll()
				return err
			})
			refused, ok := errors.AsType[*pgconn.PgError](err)
			if ok && !conn.IsClosed() {
				const lost = "%s of database %s is not kept in its copy %s: %v"
				warn(fmt.Sprintf(lost, one.What, from, to, serverError{PgError: refused}))
				continue
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

package sqlserver

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store"
	"ds2/schema"
)

// Reset takes the database back to the state after the load: store.Capabilities. What is copied is copied before the transaction.
func (s *Store) Reset(ctx context.Context, statements []schema.Statement, rows io.Reader, begin func(statement string)) error {
	copied := 1 + slices.IndexFunc(statements, func(statement schema.Statement) bool { return statement.ThenCopy })
	var inside, after []schema.Statement
	for _, statement := range statements[copied:] {
		if statement.NoTransaction {
			after = append(after, statement)
		} else {
			inside = append(inside, statement)
		}
	}
	err := s.onOwnConn(ctx, func(conn *mssql.Conn) error {
		run := func(statements []schema.Statement) error {
			for _, statement := range statements {
				begin(statement.Name)
				if err := exec(ctx, conn, statement.SQL); err != nil {
					return s.Wrap(statement.Name, err)
				}
				if statement.ThenCopy {
					if _, err := s.bulkLoad(ctx, conn, statement.Table, rows); err != nil {
						return err
					}
				}
			}
			return nil
		}
		if err := run(statements[:copied]); err != nil {
			return err
		}
		if err := transact(ctx, conn, func() error { return run(inside) }); err != nil {
			return err
		}
		if err := run(after); err != nil {
			return err
		}
		begin("wait until the server has removed deleted rows")
		return s.awaitGhostCleanup(ctx, conn, tablesOf(inside))
	})
	return s.Wrap("reset "+s.Label(), err)
}

// tablesOf are the tables that statements work on.
func tablesOf(statements []schema.Statement) []string {
	var tables []string
	for _, statement := range statements {
		if statement.Table != "" && !slices.Contains(tables, statement.Table) {
			tables = append(tables, statement.Table)
		}
	}
	return tables
}

// ghostCleanup waits until the rows that a reset deleted are gone from their pages, two minutes at most. Until then they
// are ghosts, which a task of the server's removes in the background: a run that begins before would be measured with it.
const ghostCleanup = `
	DECLARE @until datetime = DATEADD(second, 120, GETDATE());
	WHILE GETDATE() < @until AND EXISTS (
		SELECT 1
		FROM (VALUES %s) AS t (name)
		CROSS APPLY sys.dm_db_index_physical_stats(DB_ID(), OBJECT_ID(t.name), NULL, NULL, 'SAMPLED') AS s
		WHERE s.index_id > 0 AND s.ghost_record_count > 0)
		WAITFOR DELAY '00:00:05';`

func (s *Store) awaitGhostCleanup(ctx context.Context, conn *mssql.Conn, tables []string) error {
	if v, err := s.ask(ctx); err != nil || v.babelfish || len(tables) == 0 {
		return err
	}
	err := exec(ctx, conn, fmt.Sprintf(ghostCleanup, "('"+strings.Join(tables, "'), ('")+"')"))
	if store.Classify(s.Wrap("wait", err)) == store.Config {
		return nil // a login that may not see them resets all the same
	}
	return err
}

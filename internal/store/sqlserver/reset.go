package sqlserver

import (
	"context"
	"io"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store"
	"ds2/schema"
)

// Reset takes the database back to the state after the load: store.Resetter. The dataset's INVENTORY is loaded beside
// the table first, so that the transaction is short and the table's pages stay where they are.
func (s *Store) Reset(ctx context.Context, statements []schema.Statement, inventory io.Reader, begin func(statement string)) error {
	const dropCopy = "DROP TABLE IF EXISTS ds2_inventory"
	makeCopy := "CREATE TABLE ds2_inventory (PROD_ID int NOT NULL PRIMARY KEY CLUSTERED, QUAN_IN_STOCK int NOT NULL, SALES int NOT NULL)"
	op := "reset " + s.Label()
	placed, err := s.placed(ctx)
	if err != nil {
		return s.Wrap(op, err)
	}
	if placed { // beside INVENTORY, not in the filegroup of the server's own tables
		makeCopy += " ON DS_MISC_FG"
	}
	err = s.onOwnConn(ctx, func(conn *mssql.Conn) error {
		for _, statement := range []string{dropCopy, makeCopy} {
			if err := exec(ctx, conn, statement); err != nil {
				return err
			}
		}
		if _, err := s.bulkLoad(ctx, conn, "ds2_inventory", inventory); err != nil {
			return err
		}
		err := transact(ctx, conn, func() error {
			for _, statement := range statements {
				begin(statement.Name)
				if err := exec(ctx, conn, statement.SQL); err != nil {
					return s.Wrap(statement.Name, err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := exec(ctx, conn, dropCopy); err != nil {
			return err
		}
		begin("wait until the server has removed deleted rows")
		return s.awaitGhostCleanup(ctx, conn)
	})
	return s.Wrap(op, err)
}

// ghostCleanup waits until the rows that a reset deleted are gone from their pages, two minutes at most. Until then they
// are ghosts, which a task of the server's removes in the background: a run that begins before would be measured with it.
const ghostCleanup = `
	DECLARE @until datetime = DATEADD(second, 120, GETDATE());
	WHILE GETDATE() < @until AND EXISTS (
		SELECT 1
		FROM (VALUES ('CUSTOMERS'), ('CUST_HIST'), ('ORDERS'), ('ORDERLINES')) AS t (name)
		CROSS APPLY sys.dm_db_index_physical_stats(DB_ID(), OBJECT_ID(t.name), NULL, NULL, 'SAMPLED') AS s
		WHERE s.index_id > 0 AND s.ghost_record_count > 0)
		WAITFOR DELAY '00:00:05';`

func (s *Store) awaitGhostCleanup(ctx context.Context, conn *mssql.Conn) error {
	if v, err := s.ask(ctx); err != nil || v.babelfish {
		return err
	}
	err := exec(ctx, conn, ghostCleanup)
	if store.Classify(s.Wrap("wait", err)) == store.Config {
		return nil // a login that may not see them resets all the same
	}
	return err
}

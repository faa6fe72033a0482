package sqlserver

import (
	"context"
	"io"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/schema"
)

// Reset takes the database back to the state after the load: store.Resetter. The dataset's INVENTORY is loaded beside
// the table first, so that the transaction is short and the table's pages stay where they are.
func (s *Store) Reset(ctx context.Context, statements []schema.Statement, inventory io.Reader) error {
	const makeCopy = "CREATE TABLE ds2_inventory (PROD_ID int NOT NULL PRIMARY KEY CLUSTERED, QUAN_IN_STOCK int NOT NULL, SALES int NOT NULL)"
	const dropCopy = "DROP TABLE IF EXISTS ds2_inventory"
	op := "reset " + s.Label()
	err := s.onOwnConn(ctx, func(conn *mssql.Conn) error {
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
				if err := exec(ctx, conn, statement.SQL); err != nil {
					return s.Wrap(statement.Name, err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		return exec(ctx, conn, dropCopy)
	})
	return s.Wrap(op, err)
}

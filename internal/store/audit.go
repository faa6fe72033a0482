package store

import (
	"context"
	"database/sql"
)

// BulkReader is a server that can be told how an audit should read large tables.
type BulkReader interface {
	// PrepareRead prepares a session: memory enough for a query over 100,000 rows, and at most temp bytes of temporary
	// files. With ranges, the statements that follow read ranges of rows; else they count rows by an index. It is false
	// where the server does not let this user limit temporary files.
	PrepareRead(ctx context.Context, conn *sql.Conn, ranges bool, temp int64) (limited bool, err error)

	// Slices divides a table by where its rows lie: conditions for WHERE that together read each page once. None: the
	// server cannot.
	Slices(ctx context.Context, table string, bytes int64) ([]string, error)
}

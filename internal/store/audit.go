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

	// Slices divides a table by where its rows lie: conditions for WHERE that together read once each page behind a
	// place that an earlier call gave; 0: each page. Rows that are added from now on lie behind end, as long as no rows
	// before it are removed. None: the server cannot.
	Slices(ctx context.Context, table string, behind, bytes int64) (conditions []string, end int64, err error)
}

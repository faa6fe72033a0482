package store

import (
	"context"
	"database/sql"
)

// BulkReader is a Store whose server can be told how an audit should read large tables. A store that is none has its
// tables read with the session's own settings, each in one statement.
type BulkReader interface {
	// PrepareRead prepares a session: memory enough for a query over 100,000 orders, and at most temp bytes of temporary
	// files. With ranges, the statements that follow read ranges of rows; else they count rows by an index. It is false
	// where the server does not let this user limit temporary files.
	PrepareRead(ctx context.Context, conn *sql.Conn, ranges bool, temp int64) (limited bool, err error)

	// Slices divides a table by where its rows lie: conditions for WHERE that together read each page once. None: the
	// server cannot.
	Slices(ctx context.Context, table string, bytes int64) ([]string, error)
}

// ChangeCounter is a Store whose server counts the rows that statements changed.
type ChangeCounter interface {
	// Changed is how many rows of tables have been updated since the server's statistics began.
	Changed(ctx context.Context, tables []string) (int64, error)
}

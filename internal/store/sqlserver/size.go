package sqlserver

import (
	"context"

	"ds2/internal/store"
)

// queryHere is the SQL of a question to the server at hand: Babelfish has few of SQL Server's
// views, and calls PostgreSQL's functions.
func (s *Store) queryHere(ctx context.Context, name string) (string, error) {
	v, err := s.askServer(ctx)
	if v.babelfish {
		name += "-on-babelfish"
	}
	return query(name), err
}

// TableBytes is the size of a table's rows, with the upper levels of the key in whose order they
// lie.
func (s *Store) TableBytes(ctx context.Context, table string) (n int64, err error) {
	ask, err := s.queryHere(ctx, "database/table-bytes")
	if err == nil {
		err = s.db.QueryRowContext(ctx, ask, table).Scan(&n)
	}
	return n, s.Wrap("ask for the size of table "+table+" in "+s.Label(), err)
}

// TableRows is how many rows the server counts of a table, of a quoted name. Without writers, it is
// exact.
func (s *Store) TableRows(ctx context.Context, table string) (n int64, err error) {
	v, err := s.askServer(ctx)
	ask := query("database/table-rows")
	if v.babelfish { // it knows only at times
		ask = "SELECT COUNT_BIG(*) FROM " + table
	}
	if err == nil {
		err = s.db.QueryRowContext(ctx, ask, table).Scan(&n)
	}
	return n, s.Wrap("ask for the rows of table "+table+" in "+s.Label(), err)
}

// Placement lists the tables and indexes by their filegroups: audit.Placer.
func (s *Store) Placement(ctx context.Context) (placed []store.Placed, err error) {
	ask, err := s.queryHere(ctx, "database/placement")
	if err == nil {
		placed, err = store.Collect[store.Placed](ctx, s.db, ask)
	}
	return placed, s.Wrap("find the files of tables and indexes", err)
}

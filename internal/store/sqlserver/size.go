package sqlserver

import (
	"context"

	"ds2/internal/store"
)

// TableBytes is the size of a table's rows, with the upper levels of the key in whose order they
// lie.
func (s *Store) TableBytes(ctx context.Context, table string) (int64, error) {
	return s.ofTable(
		ctx,
		"size",
		table,
		query("database/table-bytes"),
		// Babelfish has none of these views, and calls PostgreSQL's functions.
		"SELECT pg_total_relation_size(OBJECT_ID(@p1))",
	)
}

// TableRows is how many rows the server counts of a table, of a quoted name. Without writers, it is
// exact.
func (s *Store) TableRows(ctx context.Context, table string) (int64, error) {
	return s.ofTable(ctx, "rows", table, query("database/table-rows"),
		"SELECT COUNT_BIG(*) FROM "+table) // Babelfish knows only at times
}

// ofTable asks for a number of a table, whose name is @p1.
func (s *Store) ofTable(
	ctx context.Context,
	what, table, ask, onBabelfish string,
) (n int64, err error) {
	v, err := s.askServer(ctx)
	if err != nil {
		return 0, err
	}
	if v.babelfish {
		ask = onBabelfish
	}
	err = s.db.QueryRowContext(ctx, ask, table).Scan(&n)
	return n, s.Wrap("ask for the "+what+" of table "+table+" in "+s.Label(), err)
}

// Placement lists the tables and indexes by their filegroups: audit.Placer.
func (s *Store) Placement(ctx context.Context) (placed []store.Placed, err error) {
	v, err := s.askServer(ctx)
	if err != nil {
		return nil, err
	}
	ask := query("database/placement")
	if v.babelfish {
		ask = query("database/placement-on-babelfish")
	}
	placed, err = store.Collect[store.Placed](ctx, s.db, ask)
	return placed, s.Wrap("find the files of tables and indexes", err)
}

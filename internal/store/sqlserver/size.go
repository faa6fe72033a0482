package sqlserver

import "context"

// TableBytes is the size of a table's rows, with the upper levels of the key in whose order they lie.
func (s *Store) TableBytes(ctx context.Context, table string) (bytes int64, err error) {
	v, err := s.ask(ctx)
	if err != nil {
		return 0, err
	}
	query := `SELECT COALESCE(SUM(a.used_pages), 0) * 8192 FROM sys.allocation_units AS a
		JOIN sys.partitions AS p ON p.hobt_id = a.container_id AND p.index_id IN (0, 1) WHERE p.object_id = OBJECT_ID(@p1)`
	if v.babelfish { // which has none of these views, and calls PostgreSQL's functions
		query = "SELECT pg_total_relation_size(OBJECT_ID(@p1))"
	}
	err = s.db.QueryRowContext(ctx, query, table).Scan(&bytes)
	return bytes, s.Wrap("ask for the size of table "+table+" in "+s.Label(), err)
}

// TableRows is how many rows the server counts of a table, of a quoted name. While nobody writes, it is exact.
func (s *Store) TableRows(ctx context.Context, table string) (rows int64, err error) {
	v, err := s.ask(ctx)
	if err != nil {
		return 0, err
	}
	if v.babelfish { // which knows only at times
		err = s.db.QueryRowContext(ctx, "SELECT COUNT_BIG(*) FROM "+table).Scan(&rows)
	} else {
		err = s.db.QueryRowContext(ctx, "SELECT COALESCE(SUM(rows), 0) FROM sys.partitions WHERE object_id = OBJECT_ID(@p1) AND index_id IN (0, 1)", table).Scan(&rows)
	}
	return rows, s.Wrap("ask for the rows of table "+table+" in "+s.Label(), err)
}

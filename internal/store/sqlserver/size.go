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
		`SELECT COALESCE(SUM(a.used_pages), 0) * 8192 FROM sys.allocation_units AS a
		JOIN sys.partitions AS p ON p.hobt_id = a.container_id AND p.index_id IN (0, 1)
		WHERE p.object_id = OBJECT_ID(@p1)`,
		// Babelfish has none of these views, and calls PostgreSQL's functions.
		"SELECT pg_total_relation_size(OBJECT_ID(@p1))",
	)
}

// TableRows is how many rows the server counts of a table, of a quoted name. Without writers, it is
// exact.
func (s *Store) TableRows(ctx context.Context, table string) (int64, error) {
	return s.ofTable(ctx, "rows", table, `SELECT COALESCE(SUM(rows), 0) FROM sys.partitions
		WHERE object_id = OBJECT_ID(@p1) AND index_id IN (0, 1)`,
		"SELECT COUNT_BIG(*) FROM "+table) // Babelfish knows only at times
}

// ofTable asks for a number of a table, whose name is @p1.
func (s *Store) ofTable(
	ctx context.Context,
	what, table, query, onBabelfish string,
) (n int64, err error) {
	v, err := s.askServer(ctx)
	if err != nil {
		return 0, err
	}
	if v.babelfish {
		query = onBabelfish
	}
	err = s.db.QueryRowContext(ctx, query, table).Scan(&n)
	return n, s.Wrap("ask for the "+what+" of table "+table+" in "+s.Label(), err)
}

// placement asks for tables and indexes with their filegroups.
const placement = `SELECT CASE WHEN i.index_id > 1 THEN i.name ELSE o.name END,
		CASE WHEN i.index_id > 1 THEN 'index' ELSE 'table' END,
		d.name + COALESCE(' (' + CAST(f.files AS varchar(10)) + ' files, ' + f.path + ')', ''), p.bytes
	FROM sys.indexes AS i
	JOIN sys.objects AS o ON o.object_id = i.object_id AND o.type = 'U' AND o.is_ms_shipped = 0
	JOIN sys.data_spaces AS d ON d.data_space_id = i.data_space_id
	CROSS APPLY (SELECT SUM(used_page_count) * 8192 AS bytes FROM sys.dm_db_partition_stats
		WHERE object_id = i.object_id AND index_id = i.index_id HAVING COUNT(*) > 0) AS p
	OUTER APPLY (SELECT COUNT(*) AS files, MIN(physical_name) AS path FROM sys.database_files
		WHERE data_space_id = d.data_space_id HAVING COUNT(*) > 0) AS f
	ORDER BY p.bytes DESC, 1`

// placementOnBabelfish asks the same where there are neither filegroups nor views of what an index
// takes.
const placementOnBabelfish = `SELECT
		name, 'table', 'with its indexes', CAST(pg_total_relation_size(object_id) AS bigint)
	FROM sys.tables WHERE is_ms_shipped = 0 ORDER BY 4 DESC, 1`

// Placement lists the tables and indexes by their filegroups: audit.Placer.
func (s *Store) Placement(ctx context.Context) (placed []store.Placed, err error) {
	v, err := s.askServer(ctx)
	if err != nil {
		return nil, err
	}
	query := placement
	if v.babelfish {
		query = placementOnBabelfish
	}
	placed, err = store.Collect(ctx, s.db, query, (*store.Placed).Columns)
	return placed, s.Wrap("find the files of tables and indexes", err)
}

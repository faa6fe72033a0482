package sqlserver

import (
	"context"
	"database/sql"
	"errors"

	"ds2/internal/store/sqlserver/target"
)

// Progress gives how much of the full-text index is filled while a statement waits for that, by the statement's name.
// Of other indexes SQL Server does not tell.
func (s *Store) Progress(ctx context.Context) (map[string]float64, error) {
	statement := s.filling.Load()
	if statement == nil {
		return nil, nil
	}
	var share sql.NullFloat64
	err := s.db.QueryRowContext(ctx, `SELECT
			CAST(OBJECTPROPERTYEX(object_id, 'TableFulltextItemCount') AS float) / NULLIF((SELECT COUNT(*) FROM `+target.QuoteName(statement.Table)+`), 0)
		FROM sys.fulltext_indexes
		WHERE object_id = OBJECT_ID(@p1) AND has_crawl_completed = 0`, statement.Table).Scan(&share)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil || !share.Valid {
		return nil, s.Wrap("ask how far the full-text index is", err)
	}
	return map[string]float64{statement.Name: min(share.Float64, 1)}, nil
}

package sqlserver

import (
	"context"
	"database/sql"
	"errors"
)

// fullTextWait begins the statement of schema.Indexes that waits until the full-text index is filled.
const fullTextWait = "PRINT 'wait for the full-text index to be filled';"

// Builds tells how much of the full-text index is filled: load.BuildWatcher. Of other indexes SQL Server does not tell.
func (s *Store) Builds(ctx context.Context) (map[string]float64, error) {
	v, err := s.ask(ctx)
	if err != nil || v.babelfish { // which fills it with the rows
		return nil, err
	}
	var share sql.NullFloat64
	err = s.db.QueryRowContext(ctx, `SELECT
			CAST(OBJECTPROPERTYEX(object_id, 'TableFulltextItemCount') AS float) / NULLIF((SELECT COUNT(*) FROM PRODUCTS), 0)
		FROM sys.fulltext_indexes
		WHERE object_id = OBJECT_ID('PRODUCTS') AND has_crawl_completed = 0`).Scan(&share)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil || !share.Valid {
		return nil, s.Wrap("ask how far the full-text index is", err)
	}
	return map[string]float64{fullTextWait: min(share.Float64, 1)}, nil
}

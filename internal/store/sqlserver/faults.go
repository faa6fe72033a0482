package sqlserver

import (
	"context"
	"database/sql"
	"time"

	"ds2/internal/store"
)

// askFaults asks for what an error log, number p2, has of errors 823 to 825 and 833 after p1, and
// for pages that were found damaged since.
const askFaults = `SET NOCOUNT ON;
CREATE TABLE #lines (at datetime, process nvarchar(100), said nvarchar(max));
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'Error: 823,';
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'Error: 824,';
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'Error: 825,';
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'I/O requests taking longer than';
SELECT COALESCE(said, '') FROM #lines WHERE at > @p1
UNION ALL
SELECT CONCAT('damaged page ', file_id, ':', page_id, ', event ', event_type, ' of msdb.dbo.suspect_pages')
FROM msdb.dbo.suspect_pages
WHERE database_id = DB_ID() AND event_type IN (1, 2, 3) AND last_update_date > @p1 AND @p2 = 0`

// IOFaults begins to look for failed and very slow I/Os: runs.FaultFinder. It takes the rights to
// read the server's error log.
func (s *Store) IOFaults(
	ctx context.Context,
) (since func(ctx context.Context) ([]string, error), err error) {
	op := "look for I/O errors that " + s.Label() + " noted"
	const lacks = "this server has no readable error log"
	if err := s.lacks(ctx, op, "", lacks, lacks); err != nil {
		return nil, err
	}
	var begin time.Time // by the server's own clock, which dates its notes
	err = s.db.QueryRowContext(ctx, "SELECT GETDATE()").Scan(&begin)
	english := false // else it would be searched in vain
	if err == nil {  // who may not read it is told now
		err = store.List(ctx, s.db, askErrorLog, func(*sql.Rows) error {
			english = true
			return nil
		})
	}
	if err == nil && !english {
		err = store.Refuse("read the server's error log", "", "it is not in English")
	}
	if err != nil {
		return nil, s.Wrap(op, err)
	}
	return func(ctx context.Context) (all []string, err error) {
		for log := range 2 { // a start of the server begins a new one
			itself := func(line *string) []any { return []any{line} }
			found, err := store.Collect(ctx, s.db, askFaults, itself, begin, log)
			if err = s.Wrap(op, err); err != nil &&
				(log == 0 || store.Classify(err) == store.Connection) {
				return nil, err // else there may be no older one
			}
			all = append(all, found...)
		}
		return all, nil
	}, nil
}

// askErrorLog asks for a line that each error log begins with.
const askErrorLog = "EXEC sys.sp_readerrorlog 0, 1, N'Server process ID is'"

package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"ds2/internal/store"
)

// faultLines are pieces of the lines of an error log that tell of a failed, slow or misaligned I/O:
// reads and writes of pages, a write of the log, what the server then gives up, and what it takes
// for damage.
var faultLines = []string{
	"Error: 823,", "Error: 824,", "Error: 825,", "Error: 832,",
	"I/O requests taking longer than", "LogWriter: Operating system error",
	"Error: 9001,", "Error: 605,", "Error: 3314,", "Error: 3624,", "Error: 5242,", "Error: 9100,",
	"misaligned log IOs",
}

// askErrorLines asks for what an error log, number p2, has of these lines after p1.
var askErrorLines = func() string {
	var text strings.Builder
	text.WriteString("SET NOCOUNT ON;\n" +
		"CREATE TABLE #lines (at datetime, process nvarchar(100), said nvarchar(max));\n")
	for _, line := range faultLines {
		fmt.Fprintf(&text, "INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N%s;\n",
			store.Literal(line))
	}
	text.WriteString("SELECT COALESCE(said, '') FROM #lines WHERE at > @p1")
	return text.String()
}()

// askSuspectPages asks for pages that were found damaged since p1: all who may enter msdb may read
// of them.
const askSuspectPages = `SELECT CONCAT('damaged page ', file_id, ':', page_id, ', event ', event_type,
	' of msdb.dbo.suspect_pages')
FROM msdb.dbo.suspect_pages
WHERE database_id = DB_ID() AND event_type IN (1, 2, 3) AND last_update_date > @p1`

// askErrorLog asks for a line that each error log begins with.
const askErrorLog = "EXEC sys.sp_readerrorlog 0, 1, N'Server process ID is'"

// IOFaults begins to look for failed and very slow I/Os, in each of the places that this login may
// read: runs.FaultFinder. It is nil where it may read none.
func (s *Store) IOFaults(
	ctx context.Context,
) (since func(ctx context.Context) ([]string, error), unseen error) {
	op := "look for I/O errors that " + s.Label() + " noted"
	const lacks = "this server has no readable error log"
	if err := s.refuseLacking(ctx, op, "", lacks, lacks); err != nil {
		return nil, err
	}
	var begin time.Time // by the server's own clock, which dates its notes
	if err := s.db.QueryRowContext(ctx, "SELECT GETDATE()").Scan(&begin); err != nil {
		return nil, s.Wrap(op, err)
	}
	errLog := s.Wrap("read the server's error log", s.checkErrorLog(ctx))
	_, errPages := s.suspectPages(ctx, begin)
	errPages = s.Wrap("read msdb.dbo.suspect_pages", errPages)
	if unseen = errors.Join(errLog, errPages); errLog != nil && errPages != nil {
		return nil, unseen
	}
	return func(ctx context.Context) (found []string, err error) {
		if errLog == nil {
			if found, err = s.errorLines(ctx, begin); err != nil {
				return nil, s.Wrap(op, err)
			}
		}
		if errPages == nil {
			pages, err := s.suspectPages(ctx, begin)
			return append(found, pages...), s.Wrap(op, err)
		}
		return found, nil
	}, unseen
}

// checkErrorLog is an error where the login may not read the log, or would search it in vain.
func (s *Store) checkErrorLog(ctx context.Context) error {
	english := false
	err := store.List(ctx, s.db, askErrorLog, func(*sql.Rows) error {
		english = true
		return nil
	})
	if err == nil && !english {
		return store.Refuse("read the server's error log", "", "it is not in English")
	}
	return err
}

func (s *Store) errorLines(ctx context.Context, begin time.Time) (lines []string, err error) {
	for log := range 2 { // a start of the server begins a new one
		found, err := store.Collect(ctx, s.db, askErrorLines, intoLine, begin, log)
		if err = s.Wrap("read the server's error log", err); err != nil &&
			(log == 0 || store.Classify(err) == store.Connection) {
			return nil, err // else there may be no older one
		}
		lines = append(lines, found...)
	}
	return lines, nil
}

func (s *Store) suspectPages(ctx context.Context, begin time.Time) ([]string, error) {
	return store.Collect(ctx, s.db, askSuspectPages, intoLine, begin)
}

func intoLine(line *string) []any { return []any{line} }

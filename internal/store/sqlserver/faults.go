package sqlserver

import (
	"context"
	"errors"
	"time"

	"ds2/internal/store"
)

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
	var readable []func(context.Context, time.Time) ([]string, error)
	if err := s.checkErrorLog(ctx); err != nil {
		unseen = s.Wrap("read the server's error log", err)
	} else {
		readable = append(readable, s.errorLines)
	}
	if _, err := s.suspectPages(ctx, begin); err != nil {
		unseen = errors.Join(unseen, s.Wrap("read msdb.dbo.suspect_pages", err))
	} else {
		readable = append(readable, s.suspectPages)
	}
	if readable == nil {
		return nil, unseen
	}
	return func(ctx context.Context) (found []string, err error) {
		for _, read := range readable {
			lines, err := read(ctx, begin)
			if err != nil {
				return nil, s.Wrap(op, err)
			}
			found = append(found, lines...)
		}
		return found, nil
	}, unseen
}

// checkErrorLog is an error where the login may not read the log, or would search it in vain.
func (s *Store) checkErrorLog(ctx context.Context) error {
	english, err := listNamed(ctx, s.db, query("server/error-log"))
	if err == nil && english == nil {
		return store.Refuse("read the server's error log", "", "it is not in English")
	}
	return err
}

func (s *Store) errorLines(ctx context.Context, begin time.Time) (lines []string, err error) {
	for log := range 2 { // a start of the server begins a new one
		found, err := s.readNotes(ctx, "server/error-lines", begin, log)
		if err = s.Wrap("read the server's error log", err); err != nil &&
			(log == 0 || store.Classify(err) == store.Connection) {
			return nil, err // else there may be no older one
		}
		lines = append(lines, found...)
	}
	return lines, nil
}

func (s *Store) suspectPages(ctx context.Context, begin time.Time) ([]string, error) {
	return s.readNotes(ctx, "database/suspect-pages", begin)
}

// readNotes reads lines that the server noted.
func (s *Store) readNotes(ctx context.Context, name string, args ...any) ([]string, error) {
	type note struct{ Text string }
	found, err := store.Collect[note](ctx, s.db, query(name), args...)
	var lines []string
	for _, one := range found {
		lines = append(lines, one.Text)
	}
	return lines, err
}

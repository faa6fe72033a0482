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
	logUnseen := s.Wrap("read the server's error log", s.checkErrorLog(ctx))
	_, err := s.readNotes(ctx, suspectPages, begin)
	pagesUnseen := s.Wrap("read msdb.dbo.suspect_pages", err)
	unseen = errors.Join(logUnseen, pagesUnseen)
	if logUnseen != nil && pagesUnseen != nil {
		return nil, unseen
	}
	return func(ctx context.Context) (found []string, err error) {
		if logUnseen == nil {
			found, err = s.errorLines(ctx, begin)
		}
		if err == nil && pagesUnseen == nil {
			var pages []string
			pages, err = s.readNotes(ctx, suspectPages, begin)
			found = append(found, pages...)
		}
		return found, s.Wrap(op, err)
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

// errorLines are the lines on I/O that the current error log and the one before have since begin,
// by the server's clock.
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

// suspectPages names the question for pages of the database that the server noted as damaged.
const suspectPages = "database/suspect-pages"

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

package sqlserver

import (
	"context"

	"ds2/internal/store/sqlserver/target"
)

// LogSpace tells how full the log is: store.LogKeeper. Under full recovery the log is kept from the first full backup
// on.
func (s *Store) LogSpace(ctx context.Context) (size, used int64, kept bool, err error) {
	v, err := s.ask(ctx)
	if err != nil || v.babelfish || v.azure() { // Azure backs logs up itself
		return 0, 0, false, err
	}
	found, err := s.settings(ctx)
	if err != nil {
		return 0, 0, false, s.Wrap("ask for the log of "+s.Label(), err)
	}
	kept = found["database recovery model"] != "SIMPLE" && found["database log chain"] == "begun"
	return found.number("database log bytes"), found.number("database log used bytes"), kept, nil
}

// DiscardLog backs the log up to NUL: store.LogKeeper.
func (s *Store) DiscardLog(ctx context.Context) error {
	op := "back the log of " + s.Label() + " up to NUL"
	const lacks = "this server takes no backups of logs"
	if err := target.Lacks(ctx, s, op, "leave --discard-log out", lacks, lacks); err != nil {
		return err
	}
	_, err := s.db.ExecContext(ctx, "BACKUP LOG "+target.QuoteName(s.Name())+" TO DISK = N'NUL'")
	if keepsNoLog(err) {
		return nil
	}
	return s.Wrap(op, err)
}

// keepsNoLog tells whether a backup of a log failed because there is none to keep.
func keepsNoLog(err error) bool {
	const simpleRecovery, noFullBackup = 4208, 4214
	return target.HasNumber(err, simpleRecovery, noFullBackup)
}

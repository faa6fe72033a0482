package sqlserver

import (
	"context"

	"ds2/internal/store"
)

// LogSpace tells how full the log is: upkeep.LogKeeper. Under full recovery the log is kept from
// the first full backup on.
func (s *Store) LogSpace(ctx context.Context) (size, used int64, kept bool, err error) {
	v, err := s.askServer(ctx)
	if err != nil || v.babelfish || v.isAzure() { // Azure backs logs up itself
		return 0, 0, false, err
	}
	found, err := s.readSettings(ctx)
	if err != nil {
		return 0, 0, false, s.Wrap("ask for the log of "+s.Label(), err)
	}
	kept = found["database recovery model"] != "SIMPLE" && found["database log chain"] == "begun"
	return found.Number("database log bytes"), found.Number("database log used bytes"), kept, nil
}

// DiscardLog backs the log up to NUL: upkeep.LogKeeper.
func (s *Store) DiscardLog(ctx context.Context) error {
	op := "back the log of " + s.Label() + " up to NUL"
	const lacks = "this server does not back up logs"
	if err := s.refuseLacking(ctx, op, "leave --discard-log out", lacks, lacks); err != nil {
		return err
	}
	_, err := s.db.ExecContext(ctx, "BACKUP LOG "+quoteName(s.Name())+" TO DISK = N'NUL'")
	const simpleRecovery, noFullBackup = 4208, 4214
	if hasNumber(err, simpleRecovery, noFullBackup) { // there is no log to keep
		return nil
	}
	return s.Wrap(op, err)
}

// Checkpoint makes a checkpoint of the database: runs.Checkpointer.
func (s *Store) Checkpoint(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "CHECKPOINT")
	return s.Wrap("make a checkpoint on "+s.Label(), err)
}

// MayCheckpoint asks for the right to run CHECKPOINT: runs.Checkpointer.
func (s *Store) MayCheckpoint(ctx context.Context) error {
	v, err := s.askServer(ctx)
	if err != nil || v.babelfish { // which tells of no such right
		return err
	}
	return store.May(ctx, s, "make a checkpoint on "+s.Label(), query("server/may-checkpoint"),
		"the user may not run a checkpoint",
		"make the user a member of db_owner, or run with --checkpoint-first=false")
}

// MayDropCache asks for the right to DropCache: runs.CacheDropper.
func (s *Store) MayDropCache(ctx context.Context) error {
	op := "empty the cache of " + s.Label()
	const leave, lacks = "leave --cold-start out", "this server, Babelfish, has no DBCC DROPCLEANBUFFERS"
	if err := s.refuseLacking(ctx, op, leave, lacks, ""); err != nil {
		return err
	}
	v, err := s.askServer(ctx)
	if err != nil {
		return err
	}
	// learn.microsoft.com/sql/t-sql/database-console-commands/dbcc-dropcleanbuffers-transact-sql
	may := "HAS_PERMS_BY_NAME(NULL, NULL, 'ALTER SERVER STATE')"
	do := "GRANT ALTER SERVER STATE TO the login"
	switch {
	case v.isAzureDatabase():
		may = "IS_SRVROLEMEMBER('##MS_ServerStateManager##')"
		do = "ALTER SERVER ROLE ##MS_ServerStateManager## ADD MEMBER the login"
	case v.major < 16 && !v.isAzure():
		may = "IS_SRVROLEMEMBER('sysadmin')"
		do = "use a member of sysadmin, as servers before 2022 require"
	}
	return store.May(ctx, s, op, "SELECT CAST(COALESCE("+may+", 0) AS bit)",
		"the login may not run DBCC DROPCLEANBUFFERS", do+", or "+leave)
}

// DropCache empties the server's buffer pool: runs.CacheDropper.
func (s *Store) DropCache(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "DBCC DROPCLEANBUFFERS WITH NO_INFOMSGS")
	return s.Wrap("empty the cache of "+s.Label(), err)
}

// DelayedDurability asks for the option of the target's database by which commits may return before
// their log is on the drive: under DISABLED none does, under ALLOWED those that ask for it, under
// FORCED all. It is empty where the server has no such thing.
func (s *Store) DelayedDurability(ctx context.Context) (d string, err error) {
	v, err := s.askServer(ctx)
	if err != nil || v.babelfish {
		return "", err
	}
	err = s.db.QueryRowContext(ctx, query("database/delayed-durability")).Scan(&d)
	return d, s.Wrap("ask for the delayed durability of "+s.Label(), err)
}

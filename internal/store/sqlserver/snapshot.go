package sqlserver

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ds2/internal/datatable"
	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/schema"
)

// A snapshot here is a full backup, which is what the storage report restores before each run
// (WORKLOAD.md section 6). SQL Server's own database snapshots are not used: while one exists, the
// first change of every page is copied to it, which a storage benchmark would measure, and going
// back to one drops the full-text catalogs (docs/howto/sqlserver.md).

// There are two files, which are written by turns: BACKUP writes over a file from its beginning,
// and one that is cut off would leave no backup at all. The one to restore is the one that was
// finished last.

// backupFiles are the names of the two files in the server's own directory for backups. The number
// comes before the database's name, or DS2_2 would have a file of DS2. A database that is gone is
// restored, too, so that the name holds nothing that only the database knows.
func (s *Store) backupFiles() (files [2]string) {
	for i := range files {
		files[i] = fmt.Sprintf("ds2_snapshot_%d_of_%s.bak", i+1, s.Name())
	}
	return files
}

// backup is what a backup says of itself.
type backup struct {
	finished time.Time // zero: it is not there, or not whole
	database string    // its name
	server   string
	family   string // what the database is, whatever its name: its family_guid; empty: unknown
}

// readSource reads what the database's own backups say of it; its family is empty where it is not
// there, not open, or this login may not see it.
func (s *Store) readSource(ctx context.Context, db *sql.DB) (source backup, err error) {
	rows, err := listNamed(ctx, db, query("server/backup-source"), s.Name())
	source.database = s.Name()
	for _, row := range rows {
		source.server = row["ServerName"]
		source.family = row["FamilyGUID"]
	}
	return source, err
}

// findStranger says what else than a database a backup is of; empty: it is that database's.
func (b backup) findStranger(source backup) string {
	known := b.family != "" && source.family != ""
	switch {
	case !strings.EqualFold(b.database, source.database):
		return "is of database " + b.database
	case known && b.family != source.family:
		return fmt.Sprintf("is of another database %s, of server %s", b.database, b.server)
	case !known && b.server != source.server:
		return fmt.Sprintf("is of server %s, not %s", b.server, source.server)
	}
	return ""
}

// findNewest is which of the two holds the whole backup that was finished last, and which the next
// one is for.
func findNewest(found [2]backup) (current, next int) {
	switch {
	case found[1].finished.After(found[0].finished):
		return 1, 0
	case found[0].finished.IsZero():
		return 0, 0
	}
	return 0, 1
}

// readBackups looks at the two. An error of class Connection leaves that unknown;
// others say that there is none of a name, or no backup, or that ds2 may not look, and then may not
// restore.
func (s *Store) readBackups(ctx context.Context, db *sql.DB) (found [2]backup, err error) {
	for i, file := range s.backupFiles() {
		rows, failed := listNamed(ctx, db, "RESTORE HEADERONLY FROM DISK = "+quoteText(file))
		for _, row := range rows {
			at, err := time.Parse(time.RFC3339Nano, row["BackupFinishDate"])
			// one that was cut off has no such time
			if err == nil && at.After(found[i].finished) {
				found[i] = backup{at, row["DatabaseName"], row["ServerName"], row["FamilyGUID"]}
			}
		}
		failed = s.Wrap("look at the backup "+file, failed)
		if store.Classify(failed) == store.Connection {
			return found, failed
		}
		err = errors.Join(err, failed)
	}
	return found, err
}

// backupParts are those of a backup that is under way.
const backupParts = 100_000

// SnapshotRoom asks for the size of the pages in use, of which a backup consists: load.Sizer. Where
// the server's directory for backups lies is not known.
func (s *Store) SnapshotRoom(ctx context.Context) (room store.SnapshotRoom, err error) {
	err = s.db.QueryRowContext(ctx, query("database/used-bytes")).
		Scan(&room.Database)
	room.Copy = room.Database
	return room, s.Wrap("ask for the size of "+s.Label(), err)
}

// CreateSnapshot makes a full backup: upkeep.Snapshotter. It is also what full recovery takes
// effect with.
func (s *Store) CreateSnapshot(ctx context.Context, how store.Copying) error {
	op := "back up " + s.Label()
	if err := s.needBackup(ctx, op); err != nil {
		return err
	}
	defer s.watchCommand(ctx, "BACKUP DATABASE", backupParts, how.Tell)()
	found, err := s.readBackups(ctx, s.db)
	if store.Classify(err) == store.Connection {
		return err
	}
	source, err := s.readSource(ctx, s.db)
	if err != nil {
		return s.Wrap(op, err)
	}
	_, next := findNewest(found)
	last := found[next]
	// An earlier database of this name, on this server, needs its backup no more.
	replaced := last.server == source.server && strings.EqualFold(last.database, source.database)
	if why := last.findStranger(source); !last.finished.IsZero() && why != "" && !replaced {
		return store.Refuse(op, "move it away, so that it is not lost",
			"%s is in the way: it %s", s.backupFiles()[next], why)
	}
	_, err = s.db.ExecContext(ctx, "BACKUP DATABASE "+quoteName(s.Name())+
		" TO DISK = "+quoteText(s.backupFiles()[next])+" WITH FORMAT, INIT, CHECKSUM")
	return s.Wrap(op, err)
}

// RestoreSnapshot puts the backup in the database's place, in the files where it lies now:
// upkeep.Snapshotter. The database may be offline, amid a restore that was cut off, or gone.
func (s *Store) RestoreSnapshot(ctx context.Context, how store.Copying) error {
	op := "restore " + s.Label()
	if err := s.needBackup(ctx, op); err != nil {
		return err
	}
	defer s.watchCommand(ctx, "RESTORE DATABASE", backupParts, how.Tell)()
	master := s.openMaster()
	defer master.Close()
	file, err := s.findBackup(ctx, master, op)
	if err == nil {
		err = s.restoreBackup(ctx, master, file, how.Warn)
	}
	return cmp.Or(s.Wrap(op, err), ctx.Err())
}

// findBackup finds the file of the backup to restore, before sessions are disconnected.
func (s *Store) findBackup(ctx context.Context, master *sql.DB, op string) (string, error) {
	files := s.backupFiles()
	found, err := s.readBackups(ctx, master)
	if store.Classify(err) == store.Connection {
		return "", err
	}
	current, _ := findNewest(found)
	if found[current].finished.IsZero() {
		return "", errors.Join(fmt.Errorf("there is no backup %s, nor %s", files[0], files[1]), err)
	}
	source, err := s.readSource(ctx, master)
	if why := found[current].findStranger(source); err == nil && why != "" {
		return "", store.Refuse(op, "make the snapshot again with ds2 snapshot create",
			"the backup %s %s", files[current], why)
	}
	return files[current], err
}

// restoreBackup restores a file, and sets the options back that the database had.
func (s *Store) restoreBackup(
	ctx context.Context, master *sql.DB, file string, warn func(string),
) error {
	moves, err := s.findMoves(ctx, master, file)
	if err != nil {
		return err
	}
	now, err := s.askStanding(ctx, master)
	if err != nil {
		return err
	}
	alter := "ALTER DATABASE " + quoteName(s.Name()) + " SET "
	var before map[string]string
	var unknown error
	if now.State == "ONLINE" {
		before, unknown = s.readOptions(ctx, master)
		_, err := master.ExecContext(ctx, alter+"OFFLINE WITH ROLLBACK IMMEDIATE")
		if err != nil {
			return err
		}
	}
	_, err = master.ExecContext(ctx, "RESTORE DATABASE "+quoteName(s.Name())+
		" FROM DISK = "+quoteText(file)+" WITH REPLACE, CHECKSUM"+moves)
	if err != nil {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		// Where the restore did not begin, the database is as it was, only offline.
		if d, failed := s.askStanding(after, master); failed == nil && d.State == "OFFLINE" &&
			now.State == "ONLINE" {
			_, failed = master.ExecContext(after, alter+"ONLINE")
			err = errors.Join(err, failed)
		}
		return err
	}
	after, failed := s.readOptions(ctx, master)
	if err := errors.Join(unknown, failed); err != nil {
		warn(fmt.Sprintf("the options of %s are those of the backup; whether they changed is unknown: %v", s.Label(), err))
		return nil
	}
	s.setBack(ctx, master, before, after, warn)
	return nil
}

// watchCommand tells how far the server is with a command on the database, by its own account and
// in parts of all, until end is called. It is only for show: who may not see that goes on without.
func (s *Store) watchCommand(
	ctx context.Context,
	command string,
	all int64,
	tell progress.Tell,
) (end func()) {
	master := s.openMaster()
	stop := progress.Watch(ctx, time.Second, func(ctx context.Context) bool {
		var percent float64
		var step string
		err := master.QueryRowContext(ctx, query("server/command-progress"),
			command, s.Name()).
			Scan(&percent, &step)
		if err == nil {
			tell(strings.ToLower(step), int64(percent/100*float64(all)), all)
		}
		return err == nil || errors.Is(err, sql.ErrNoRows)
	})
	return func() { stop(); master.Close() }
}

// findMoves are the MOVE options of RESTORE that keep every file of the backup where the server
// knows one of its name; a file that it does not know goes where it was when the backup was made.
func (s *Store) findMoves(ctx context.Context, master *sql.DB, file string) (string, error) {
	files, err := listNamed(ctx, master, "RESTORE FILELISTONLY FROM DISK = "+quoteText(file))
	if err != nil {
		return "", err
	}
	known, err := store.Pairs[string](ctx, master, query("server/database-files"), s.Name())
	if err != nil {
		return "", err
	}
	var moves strings.Builder
	for _, row := range files {
		name := row["LogicalName"]
		if path, ok := known[name]; ok {
			fmt.Fprintf(&moves, ", MOVE %s TO %s", quoteText(name), quoteText(path))
		}
	}
	return moves.String(), nil
}

// DropSnapshot can only tell which files are to be deleted: no statement of SQL Server deletes a
// backup.
func (s *Store) DropSnapshot(ctx context.Context) error {
	op := "drop the snapshot of " + s.Label()
	if err := s.needBackup(ctx, op); err != nil {
		return err
	}
	files := s.backupFiles()
	do := fmt.Sprintf("delete %s and %s in its directory for backups, if they exist",
		files[0], files[1])
	return store.Refuse(op, do, "SQL Server has no statement that deletes a backup")
}

// needBackup is an error where the server has no BACKUP.
func (s *Store) needBackup(ctx context.Context, op string) error {
	const lacks = "this server has no BACKUP DATABASE to a disk"
	const do = "use ds2 reset, or load again where the workload has none"
	if v, err := s.askServer(ctx); err == nil && v.rds {
		return store.Refuse(op, do, "Amazon RDS backs up to its own storage only")
	}
	return s.refuseLacking(ctx, op, do, lacks, lacks)
}

// quoteText quotes a text as nvarchar: the path of a backup may have any letters.
func quoteText(text string) string { return "N" + schema.Literal(text) }

//go:embed options.tsv
var optionsTable string

// databaseOptions are what ALTER DATABASE sets and a restore brings back as it was at the backup:
// the column of schema/sqlserver/server/options.sql that shows it, which older servers may not
// have, the statement that sets it, and words for true and false. One without a statement is not
// set back.
var databaseOptions = datatable.Rows(optionsTable, 4)

// setOption is the statement that sets an option of a database to what the server showed; empty:
// there is none.
func setOption(option []string, database, value string) string {
	word := value
	switch {
	case option[1] == "":
		return ""
	case value == "true":
		word = cmp.Or(option[2], "ON")
	case value == "false":
		word = cmp.Or(option[3], "OFF")
	}
	return fmt.Sprintf(option[1], quoteName(database), word, quoteName(value))
}

// readOptions are the options of the database, by column; none: it is not there.
func (s *Store) readOptions(ctx context.Context, master *sql.DB) (map[string]string, error) {
	rows, err := listNamed(ctx, master, query("server/options"), s.Name())
	return slices.Concat(rows, []map[string]string{nil})[0], err
}

// setBack sets the options that differ, of those that both know, to what they were before, and
// warns of those that it cannot set.
func (s *Store) setBack(
	ctx context.Context, master *sql.DB, before, after map[string]string, warn func(string),
) {
	for _, option := range databaseOptions {
		was, known := before[option[0]]
		is, still := after[option[0]]
		if !known || !still || was == is {
			continue
		}
		err := errors.New("ds2 does not set it")
		if statement := setOption(option, s.Name(), was); statement != "" {
			_, err = master.ExecContext(ctx, statement)
		}
		if err != nil {
			warn(fmt.Sprintf("%s: %s was %s and is %s after the restore: set it again, or make the snapshot again once it is set: %v", s.Label(), option[0], was, is, err))
		}
	}
}
